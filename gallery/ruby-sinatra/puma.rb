# Puma in one process. Its metrics have the names of the gem puma-metrics, which Debian does not have.
bind "tcp://127.0.0.1:#{ENV.fetch('PORT_APP')}"
threads Integer(ENV.fetch('THREADS')), Integer(ENV.fetch('THREADS'))
environment 'production'
plugin :metrics
