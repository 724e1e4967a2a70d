# Serves Puma's statistics and the application's metrics to Prometheus, on a port of its own.
require 'json'
require 'prometheus/client'
require 'prometheus/client/rack/exporter'

class PumaMetrics
  TEXTS = {
    'backlog' => 'Number of requests that wait for a thread',
    'running' => 'Number of running threads',
    'pool_capacity' => 'Number of requests that can be taken now',
    'max_threads' => 'Maximum number of threads',
    'requests_count' => 'Number of processed requests'
  }.freeze

  def initialize
    @gauges = TEXTS.to_h { |name, text| [name, Prometheus::Client.registry.gauge(:"puma_#{name}", text, {}, :livesum)] }
    @page = Prometheus::Client::Rack::Exporter.new(->(_) { [404, {}, []] })
  end

  def call(env)
    stats = JSON.parse(Puma.stats)
    @gauges.each { |name, gauge| gauge.set({ index: 0 }, stats.fetch(name)) }
    @page.call(env)
  end
end

Puma::Plugin.create do
  def start(launcher)
    launcher.events.on_booted do
      server = Puma::Server.new(PumaMetrics.new, launcher.events, min_threads: 0, max_threads: 1)
      server.add_tcp_listener('127.0.0.1', Integer(ENV.fetch('PORT_METRICS')))
      server.run
    end
  end
end
