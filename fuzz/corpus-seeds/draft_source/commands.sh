curl 'https://h/a?b=c' -H 'Authorization: Bearer abc' --data-raw $'{"it\'s": "\u00e9"}' \
 -H 'Content-Type: application/json' | jq .
curl -u u:p -F 'a=@x.txt;type=text/plain' -F b=c "http://$HOST/`x`" -d 'a=1&a=2' ; curl ^"http://h/^"
