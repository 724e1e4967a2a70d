package shop;

import jakarta.inject.Inject;
import jakarta.persistence.Entity;
import jakarta.persistence.EntityManager;
import jakarta.persistence.FetchType;
import jakarta.persistence.Id;
import jakarta.persistence.JoinColumn;
import jakarta.persistence.OneToMany;
import jakarta.persistence.Table;
import jakarta.transaction.Transactional;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.eclipse.microprofile.config.inject.ConfigProperty;
import org.eclipse.microprofile.rest.client.inject.RegisterRestClient;
import org.eclipse.microprofile.rest.client.inject.RestClient;

/** A shop on Quarkus: REST on worker threads, Hibernate over Agroal, and the REST client. Quarkus' own extension traces it. */
@Path("/")
public class Shop {
    private static final Object QUOTES = new Object();

    @Inject EntityManager database;
    @Inject @RestClient Quotes quotes;
    @ConfigProperty(name = "LAZY") int lazy;
    @ConfigProperty(name = "LOCK") int lock;

    @GET
    @Path("customers/{customer}/orders")
    public List<Integer> orders(int customer) {
        return database.createNativeQuery("SELECT total FROM orders WHERE customer_id = ? LIMIT 20", Integer.class)
            .setParameter(1, customer).getResultList();
    }

    @GET
    @Path("labels")
    @Transactional
    public Map<String, String> labels() {
        String query = lazy == 1
            ? "FROM Customer WHERE id <= 30"
            : "FROM Customer customer JOIN FETCH customer.addresses WHERE customer.id <= 30";
        Map<String, String> labels = new TreeMap<>();
        for (Customer customer : database.createQuery(query, Customer.class).getResultList()) {
            labels.put(customer.name, customer.addresses.get(0).city);
        }
        return labels;
    }

    @GET
    @Path("report")
    public Object report() {
        return database.createNativeQuery("SELECT count(*), sleep(0.04) FROM stock WHERE id = 1").getSingleResult();
    }

    @POST
    @Path("stock/1")
    @Transactional
    public int sell() {
        return database.createNativeQuery("UPDATE stock SET quantity = quantity - 1 WHERE id = 1").executeUpdate();
    }

    @GET
    @Path("quote")
    public Map<String, Object> quote() {
        if (lock == 1) {
            synchronized (QUOTES) {
                return quotes.get();
            }
        }
        return quotes.get();
    }
}

@Path("/")
@RegisterRestClient(configKey = "quotes")
interface Quotes {
    @GET
    Map<String, Object> get();
}

@Entity
@Table(name = "addresses")
class Address {
    @Id Integer id;
    String city;
}

@Entity
@Table(name = "customers")
class Customer {
    @Id Integer id;
    String name;

    @OneToMany(fetch = FetchType.LAZY)
    @JoinColumn(name = "customer_id")
    List<Address> addresses;
}
