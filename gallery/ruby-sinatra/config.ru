require 'prometheus/client'
require 'prometheus/client/rack/collector'
require './app'

# One series for each route, not for each address.
use Prometheus::Client::Rack::Collector do |env|
  { method: env['REQUEST_METHOD'].downcase, route: env['PATH_INFO'].gsub(%r{/\d+}, '/:id') }
end
run Library
