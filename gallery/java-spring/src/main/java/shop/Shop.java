// A shop on Spring Boot, JPA and HikariCP. OpenTelemetry's agent traces it, and Micrometer counts; nothing here knows of either.
package shop;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import jakarta.persistence.Entity;
import jakarta.persistence.FetchType;
import jakarta.persistence.Id;
import jakarta.persistence.OneToMany;
import jakarta.persistence.JoinColumn;
import jakarta.persistence.Table;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.IntStream;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.data.jpa.repository.JpaRepository;
import org.springframework.data.jpa.repository.Query;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.client.RestClient;

@SpringBootApplication
public class Shop {
    public static void main(String[] arguments) {
        SpringApplication.run(Shop.class, arguments);
    }
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

interface Customers extends JpaRepository<Customer, Integer> {
    List<Customer> findByIdLessThan(int id);

    @Query("SELECT customer FROM Customer customer JOIN FETCH customer.addresses WHERE customer.id < :id")
    List<Customer> findWithAddresses(int id);
}

record Item(int id, String name, List<String> tags) {}

@RestController
class Routes {
    private final Customers customers;
    private final JdbcTemplate database;
    private final ObjectMapper mapper;
    private final RestClient client;
    private final Object quotes = new Object();
    private final List<Item> items;
    private final boolean isLazy;
    private final boolean isLocked;
    private final int kilobytes;

    Routes(Customers customers, JdbcTemplate database, ObjectMapper mapper, RestClient.Builder builder,
            @Value("${UPSTREAM}") String upstream, @Value("${ITEMS}") int items, @Value("${LAZY}") int lazy,
            @Value("${LOCK}") int lock, @Value("${KILOBYTES}") int kilobytes) {
        this.customers = customers;
        this.database = database;
        this.mapper = mapper;
        this.client = builder.baseUrl(upstream).build();
        this.items = IntStream.range(0, items).mapToObj(id -> new Item(id, "item " + id, List.of("a", "b", "c"))).toList();
        this.isLazy = lazy == 1;
        this.isLocked = lock == 1;
        this.kilobytes = kilobytes;
    }

    @GetMapping("/customers/{customer}/orders")
    List<Integer> orders(@PathVariable int customer) {
        return database.queryForList("SELECT total FROM orders WHERE customer_id = ? LIMIT 20", Integer.class, customer);
    }

    @Transactional(readOnly = true)
    @GetMapping("/labels")
    public Map<String, String> labels() {
        Map<String, String> labels = new TreeMap<>();
        for (Customer customer : isLazy ? customers.findByIdLessThan(31) : customers.findWithAddresses(31)) {
            labels.put(customer.name, customer.addresses.get(0).city);
        }
        return labels;
    }

    @GetMapping("/report")
    Map<String, Integer> report() {
        return Map.of("count", database.queryForObject("SELECT count(*) FROM stock, pg_sleep(0.04)", Integer.class));
    }

    @PostMapping("/stock/1")
    Map<String, Integer> sell() {
        return Map.of("sold", database.update("UPDATE stock SET quantity = quantity - 1 WHERE id = 1"));
    }

    @GetMapping("/quote")
    Map<?, ?> quote() {
        if (isLocked) {
            synchronized (quotes) {
                return client.get().retrieve().body(Map.class);
            }
        }
        return client.get().retrieve().body(Map.class);
    }

    @GetMapping("/catalogue")
    Map<String, Integer> catalogue() throws JsonProcessingException {
        // A copy by way of JSON, as is usual where an object must not change.
        return Map.of("count", mapper.readValue(mapper.writeValueAsString(items), Item[].class).length);
    }

    // A document that is put together in memory, page by page, while its figures are looked up.
    @GetMapping("/document")
    Map<String, Integer> document() {
        List<byte[]> pages = new ArrayList<>();
        for (int page = 0; page < kilobytes; page++) {
            pages.add(new byte[1024]);
        }
        database.queryForObject("SELECT count(*) FROM stock, pg_sleep(0.02)", Integer.class);
        return Map.of("pages", pages.size());
    }
}
