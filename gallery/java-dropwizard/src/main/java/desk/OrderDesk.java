package desk;

import com.codahale.metrics.annotation.Timed;
import com.fasterxml.jackson.annotation.JsonProperty;
import io.dropwizard.client.JerseyClientBuilder;
import io.dropwizard.client.JerseyClientConfiguration;
import io.dropwizard.configuration.EnvironmentVariableSubstitutor;
import io.dropwizard.configuration.SubstitutingSourceProvider;
import io.dropwizard.core.Application;
import io.dropwizard.core.Configuration;
import io.dropwizard.core.setup.Bootstrap;
import io.dropwizard.core.setup.Environment;
import io.dropwizard.db.DataSourceFactory;
import io.dropwizard.jdbi3.JdbiFactory;
import io.prometheus.client.CollectorRegistry;
import io.prometheus.client.dropwizard.DropwizardExports;
import io.prometheus.client.servlet.jakarta.exporter.MetricsServlet;
import jakarta.validation.Valid;
import jakarta.ws.rs.*;
import jakarta.ws.rs.client.WebTarget;
import jakarta.ws.rs.core.MediaType;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.jdbi.v3.core.Jdbi;
import org.jdbi.v3.sqlobject.config.RegisterConstructorMapper;
import org.jdbi.v3.sqlobject.customizer.Bind;
import org.jdbi.v3.sqlobject.statement.SqlQuery;
import org.jdbi.v3.sqlobject.statement.SqlUpdate;

/** An order desk on Dropwizard: Jersey on Jetty, JDBI over Tomcat's pool, and Dropwizard's client. The agent of Java traces it. */
public class OrderDesk extends Application<OrderDesk.Settings> {
    public static void main(String[] arguments) throws Exception {
        new OrderDesk().run(arguments);
    }

    @Override
    public void initialize(Bootstrap<Settings> bootstrap) {
        bootstrap.setConfigurationSourceProvider(new SubstitutingSourceProvider(
            bootstrap.getConfigurationSourceProvider(), new EnvironmentVariableSubstitutor(true)));
    }

    @Override
    public void run(Settings settings, Environment environment) {
        Jdbi database = new JdbiFactory().build(environment, settings.database, "postgresql");
        WebTarget carrier = new JerseyClientBuilder(environment).using(settings.jerseyClient).build("carrier").target(settings.carrier);
        environment.jersey().register(new Desk(settings, database, carrier));
        CollectorRegistry.defaultRegistry.register(new DropwizardExports(environment.metrics()));
        environment.admin().addServlet("prometheus", new MetricsServlet()).addMapping("/prometheus");
    }

    public static class Settings extends Configuration {
        @Valid @JsonProperty DataSourceFactory database = new DataSourceFactory();
        @Valid @JsonProperty JerseyClientConfiguration jerseyClient = new JerseyClientConfiguration();
        @JsonProperty String carrier;
        @JsonProperty boolean lazy, locked, callInTransaction;
        @JsonProperty int kilobytes;
    }

    public record Customer(int id, String name) {}
    public record Label(String name, String city) {}
    public record Rate(int price) {}

    public interface Orders {
        @SqlQuery("SELECT sum(total) FROM orders WHERE customer_id = :customer")
        long spending(@Bind("customer") int customer);

        @SqlQuery("SELECT count(*) FROM stock, pg_sleep(0.04)")
        int articles();

        @SqlQuery("SELECT id, name FROM customers WHERE id <= 100 ORDER BY id")
        @RegisterConstructorMapper(Customer.class)
        List<Customer> customers();

        @SqlQuery("SELECT city FROM addresses WHERE customer_id = :customer")
        String city(@Bind("customer") int customer);

        @SqlQuery("SELECT name, city FROM customers c JOIN addresses a ON a.customer_id = c.id WHERE c.id <= 100 ORDER BY c.id")
        @RegisterConstructorMapper(Label.class)
        List<Label> labels();

        @SqlUpdate("UPDATE stock SET quantity = quantity - 1 WHERE id = :article")
        void take(@Bind("article") int article);
    }

    @Path("/") @Produces(MediaType.APPLICATION_JSON) @Timed
    public static class Desk {
        private final Settings settings;
        private final Jdbi database;
        private final Orders orders;
        private final WebTarget carrier;

        Desk(Settings settings, Jdbi database, WebTarget carrier) {
            this.settings = settings;
            this.database = database;
            this.carrier = carrier;
            orders = database.onDemand(Orders.class);
        }

        @GET @Path("customers/{customer}/spending")
        public Map<String, Long> spending(@PathParam("customer") int customer) {
            return Map.of("total", orders.spending(customer));
        }

        @GET @Path("labels")
        public List<Label> labels() {
            return settings.lazy
                ? orders.customers().stream().map(customer -> new Label(customer.name(), orders.city(customer.id()))).toList()
                : orders.labels();
        }

        @GET @Path("report")
        public Map<String, Integer> report() {
            return Map.of("articles", orders.articles());
        }

        @GET @Path("rate")
        public Rate rate() {
            return settings.locked ? askAlone() : ask();
        }

        @POST @Path("stock/{article}/reservations")
        public Rate reserve(@PathParam("article") int article) {
            if (settings.callInTransaction) {
                return database.inTransaction(handle -> {
                    handle.attach(Orders.class).take(article);
                    return ask();
                });
            }
            orders.take(article);
            return ask();
        }

        // An export is put together in memory while its figures are looked up.
        @GET @Path("export")
        public Map<String, Integer> export() {
            List<byte[]> pages = IntStream.range(0, settings.kilobytes).mapToObj(page -> new byte[1024]).toList();
            orders.articles();
            return Map.of("pages", pages.size());
        }

        private synchronized Rate askAlone() {
            return ask();
        }

        private Rate ask() {
            return carrier.request().get(Rate.class);
        }
    }
}
