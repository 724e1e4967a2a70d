# A library on Sinatra and Sequel. It has no traces: a middleware counts requests for Prometheus, and a log lists calls to the third party.
require 'json'
require 'logger'
require 'net/http'
require 'sequel'
require 'sinatra/base'

DB = Sequel.connect(
  adapter: 'postgres', host: '127.0.0.1', port: ENV.fetch('PORT_POSTGRES'), user: 'gallery', database: 'gallery',
  max_connections: Integer(ENV.fetch('POOL')), pool_timeout: 60
)
CALLS = Logger.new(ENV.fetch('CALLS_LOG'), formatter: proc { |_, at, _, line| "#{at.utc.strftime('%FT%T.%LZ')} #{line}\n" })

class Library < Sinatra::Base
  set :environment, :production
  set :logging, false

  get '/members/:id/loans' do
    content_type :json
    DB[:loans].where(member_id: Integer(params[:id])).order(:due).limit(20).select_map(%i[book_id due]).to_json
  end

  get '/statistics' do
    content_type :json
    DB['SELECT count(*) FROM members, pg_sleep(0.04) WHERE members.id < 100'].first.to_json
  end

  get '/books' do
    @books = DB[:books].order(:id).limit(Integer(ENV.fetch('PER_PAGE'))).all
    erb :books
  end

  get '/covers/:id' do
    content_type :json
    cover.to_json
  end

  # Each hold asks the depot once: before the transaction, or inside it, where the book stays locked meanwhile.
  post '/books/:id/hold' do
    content_type :json
    book = DB[:books].where(id: Integer(params[:id]))
    asked_before = ENV.fetch('CALL_IN_TRANSACTION') == '0' && cover
    DB.transaction do
      holds = book.for_update.get(:holds)
      asked_before || cover
      book.update(holds: holds + 1)
    end
    { held: true }.to_json
  end

  private

  # The answer of the depot, a third party.
  def cover
    uri = URI(ENV.fetch('DEPOT'))
    began = Process.clock_gettime(Process::CLOCK_MONOTONIC)
    JSON.parse(Net::HTTP.get(uri))
  ensure
    CALLS.info(format('GET %s took %.1f ms', uri.host, (Process.clock_gettime(Process::CLOCK_MONOTONIC) - began) * 1000))
  end
end
