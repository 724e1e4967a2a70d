// Types of the modules and globals that Plimsoll has beside those of @types/k6.
// `plimsoll types` writes this file. Run it again after an update of Plimsoll; changes made here are lost.

declare module "plimsoll/flow" {
    /** A number of seconds, or a text with a unit, such as `"500ms"` or `"1m30s"`. */
    export type Time = number | string;

    /** Options of `task()`; in those of `asyncTask()` each function may be async. */
    export interface TaskOptions<Submitted, Answer> {
        /** Starts the task and returns what `poll` needs. Nothing, `false`, `""` and a failed response mean that it was rejected. */
        submit: () => Submitted;
        /** Requests the state and returns the answer. */
        poll: (submitted: Awaited<Submitted>) => Answer;
        /** Returns `true` or an outcome (a text of at most 128 characters) when the task is done, and nothing until then. */
        done: (answer: Awaited<Answer>) => unknown;
        /** Returns whether the answer has the task's state. Default: all answers but failed responses. */
        isAnswer?: (answer: Awaited<Answer>) => unknown;
        /** Pause between two polls. Default: 1 s. */
        interval?: Time;
        /** Pause before the first poll. Default: `interval`. */
        delay?: Time;
        /** Factor by which each pause grows, at least 1. Default: 1. */
        backoff?: number;
        /** Maximum pause. Default: 30 s. */
        maxInterval?: Time;
        /** Maximum time from the start of the submission. Default: 60 s. */
        timeout?: Time;
        /** Maximum number of polls. Default: no limit. */
        maxPolls?: number;
        /** Expected outcomes, at most 64; others count as `other`. */
        outcomes?: string[];
        /** Value of the tag `flow`. */
        name?: string;
        /** Tags of the metrics. */
        tags?: { [name: string]: string };
    }

    /** How a task ended. */
    export type End = "finished" | "timed_out" | "too_many_polls" | "not_submitted";

    /** The result of a task. */
    export interface TaskResult<Submitted, Answer> {
        /** Whether a poll confirmed completion. */
        finished: boolean;
        end: End;
        outcome?: string;
        /** Number of polls. */
        polls: number;
        /** Milliseconds to the answer with the result; absent if unfinished. */
        duration?: number;
        /** Milliseconds to the start of the last poll that was not done. */
        durationLower?: number;
        submitted: Submitted;
        /** The last answer. */
        answer?: Answer;
    }

    /** Submits a task and polls until it is done. Blocks as `sleep()` does. */
    export function task<Submitted, Answer>(options: TaskOptions<Submitted, Answer>): TaskResult<Submitted, Answer>;
    /** Submits a task and polls until it is done, while other tasks of the VU go on. */
    export function asyncTask<Submitted, Answer>(
        options: TaskOptions<Submitted, Answer>,
    ): Promise<TaskResult<Awaited<Submitted>, Awaited<Answer>>>;
    export * as default from "plimsoll/flow";
}

declare module "k6/x/redis" {
    /** A value that is sent as text. */
    export type Scalar = string | number | boolean;

    /** Certificates and names of TLS; `true` and `{}` mean those of the system. */
    export interface TlsOptions {
        ca?: (string | ArrayBuffer)[];
        cert?: string | ArrayBuffer;
        key?: string | ArrayBuffer;
    }

    /** A server's address. Times are milliseconds; −1 means no limit. Options of pools have no effect. */
    export interface SocketOptions {
        host: string;
        port?: number;
        tls?: TlsOptions;
        dialTimeout?: number;
        readTimeout?: number;
        writeTimeout?: number;
        poolSize?: number;
        minIdleConns?: number;
        maxConnAge?: number;
        poolTimeout?: number;
        idleTimeout?: number;
    }

    export interface SingleOptions {
        socket: SocketOptions;
        username?: string;
        password?: string;
        clientName?: string;
        database?: number;
        maxRetries?: number;
        minRetryBackoff?: number;
        maxRetryBackoff?: number;
    }

    export interface ClusterOptions {
        cluster: {
            nodes: string[] | SingleOptions[];
            maxRedirects?: number;
            readOnly?: boolean;
            routeByLatency?: boolean;
            routeRandomly?: boolean;
        };
    }

    export interface SentinelOptions extends SingleOptions {
        masterName: string;
        sentinelUsername?: string;
        sentinelPassword?: string;
    }

    /** A client of Redis: one connection per VU and node, opened by its first command. A missing key rejects with `redis: nil`. */
    export class Client {
        /** `redis://USER:PASSWORD@HOST:PORT/DATABASE`, `rediss://` for TLS, or options. */
        constructor(options: string | SingleOptions | ClusterOptions | SentinelOptions);
        /** Sends any command. */
        sendCommand(command: string, ...args: Scalar[]): Promise<any>;
        isConnected(): boolean;
        /** `expiration` is in seconds; 0 means none. */
        set(key: string, value: Scalar, expiration?: number): Promise<string>;
        get(key: string): Promise<string>;
        getSet(key: string, value: Scalar): Promise<string>;
        getDel(key: string): Promise<string>;
        del(...keys: string[]): Promise<number>;
        exists(...keys: string[]): Promise<number>;
        incr(key: string): Promise<number>;
        incrBy(key: string, increment: number): Promise<number>;
        decr(key: string): Promise<number>;
        decrBy(key: string, decrement: number): Promise<number>;
        randomKey(): Promise<string>;
        mget(...keys: string[]): Promise<(string | null)[]>;
        expire(key: string, seconds: number): Promise<boolean>;
        /** Seconds; −1 without a limit, −2 for a missing key. */
        ttl(key: string): Promise<number>;
        persist(key: string): Promise<boolean>;
        lpush(key: string, ...values: Scalar[]): Promise<number>;
        rpush(key: string, ...values: Scalar[]): Promise<number>;
        lpop(key: string): Promise<string>;
        rpop(key: string): Promise<string>;
        lrange(key: string, start: number, stop: number): Promise<string[]>;
        lindex(key: string, index: number): Promise<string>;
        lset(key: string, index: number, element: string): Promise<string>;
        lrem(key: string, count: number, value: string): Promise<number>;
        llen(key: string): Promise<number>;
        hset(key: string, field: string, value: Scalar): Promise<number>;
        hsetnx(key: string, field: string, value: Scalar): Promise<boolean>;
        hget(key: string, field: string): Promise<string>;
        hdel(key: string, ...fields: string[]): Promise<number>;
        hgetall(key: string): Promise<{ [field: string]: string }>;
        hkeys(key: string): Promise<string[]>;
        hvals(key: string): Promise<string[]>;
        hlen(key: string): Promise<number>;
        hincrby(key: string, field: string, increment: number): Promise<number>;
        sadd(key: string, ...members: Scalar[]): Promise<number>;
        srem(key: string, ...members: Scalar[]): Promise<number>;
        sismember(key: string, member: Scalar): Promise<boolean>;
        smembers(key: string): Promise<string[]>;
        srandmember(key: string): Promise<string>;
        spop(key: string): Promise<string>;
    }
    export * as default from "k6/x/redis";
}

declare module "k6/experimental/redis" {
    export { Client } from "k6/x/redis";
    export * as default from "k6/experimental/redis";
}

declare module "k6/x/sql" {
    /** The default export of a driver's module. */
    export interface Driver {
        readonly driver: string;
    }

    /** A parameter of a statement. */
    export type Parameter = string | number | boolean | null | undefined | Date | ArrayBuffer | ArrayBufferView;

    /** The result of a statement. */
    export interface Result {
        rowsAffected(): number;
        /** MySQL and SQLite; PostgreSQL has `RETURNING`. */
        lastInsertId(): number;
    }

    /** A row: one property per column. */
    export interface Row {
        [column: string]: any;
    }

    /** A handle of a database: one connection per VU, opened by its first statement. */
    export interface Database {
        exec(statement: string, ...parameters: Parameter[]): Result;
        /** `timeout` is a text such as `500ms` or `2s`. */
        execWithTimeout(timeout: string, statement: string, ...parameters: Parameter[]): Result;
        query(statement: string, ...parameters: Parameter[]): Row[];
        queryWithTimeout(timeout: string, statement: string, ...parameters: Parameter[]): Row[];
        close(): void;
    }

    /**
     * Opens a database: `USER:PASSWORD@tcp(HOST:PORT)/DATABASE` for MySQL, a URL or `name=value` words for PostgreSQL, a file or
     * `:memory:` for SQLite. Options of k6's pool are accepted and have no effect.
     */
    export function open(driver: Driver | string, dataSourceName: string, options?: object): Database;
    export function exec(database: Database, statement: string, ...parameters: Parameter[]): Result;
    export function query(database: Database, statement: string, ...parameters: Parameter[]): Row[];
    export * as default from "k6/x/sql";
}

declare module "k6/x/sql/driver/mysql" {
    export const driver: string;
    export const TLS_1_0: string;
    export const TLS_1_1: string;
    export const TLS_1_2: string;
    export const TLS_1_3: string;

    /** TLS of data sources that `addTLS()` returns. Files are read as `open()` reads them. */
    export interface TlsSettings {
        enableTLS: boolean;
        insecureSkipTLSverify?: boolean;
        /** Without effect: versions are those of the option `tlsVersion`. */
        minVersion?: string;
        caCertFile?: string;
        clientCertFile?: string;
        clientKeyFile?: string;
    }

    export function loadTLS(settings: TlsSettings): void;
    /** The data source name with the settings of `loadTLS()`. */
    export function addTLS(dataSourceName: string): string;
    export * as default from "k6/x/sql/driver/mysql";
}

declare module "k6/x/sql/driver/postgres" {
    export const driver: string;
    export * as default from "k6/x/sql/driver/postgres";
}

declare module "k6/x/sql/driver/sqlite3" {
    export const driver: string;
    export * as default from "k6/x/sql/driver/sqlite3";
}

declare module "k6/x/dotenv" {
    /** The variables of a `.env` text. */
    export function parse(text: string | ArrayBuffer | ArrayBufferView): { [name: string]: string };
    export * as default from "k6/x/dotenv";
}

declare module "k6/x/yaml" {
    export function parse(text: string | ArrayBuffer | ArrayBufferView): any;
    export function stringify(value: any): string;
    export * as default from "k6/x/yaml";
}

declare module "k6/x/toml" {
    export function parse(text: string | ArrayBuffer | ArrayBufferView): any;
    export function stringify(value: any): string;
    export * as default from "k6/x/toml";
}

declare module "k6/x/faker" {
    type Texts<Names extends string> = { readonly [name in Names]: (...args: any[]) => string };
    type Numbers<Names extends string> = { readonly [name in Names]: (...args: any[]) => number };
    type Made = { [name: string]: any };

    /** A source of made-up data. Values depend on its seed and on the calls before. */
    export class Faker {
        /** Seed 0, or none, is a random one. */
        constructor(seed?: number);
        /** Calls a function by its name. */
        call(name: string, ...args: unknown[]): any;
        readonly address: Texts<"city" | "country" | "countryAbbreviation" | "state" | "stateAbbreviation" | "street" | "streetName" | "streetNumber"
            | "streetPrefix" | "streetSuffix" | "zip"> & Numbers<"latitude" | "longitude"> & {
            address(): Made;
            latitudeRange(min?: number, max?: number): number;
            longitudeRange(min?: number, max?: number): number;
        };
        readonly animal: Texts<"animal" | "animalType" | "bird" | "cat" | "dog" | "farmAnimal" | "petName">;
        readonly app: Texts<"appAuthor" | "appName" | "appVersion">;
        readonly beer: Texts<"beerAlcohol" | "beerBlg" | "beerHop" | "beerIbu" | "beerMalt" | "beerName" | "beerStyle" | "beerYeast">;
        readonly book: Texts<"bookAuthor" | "bookGenre" | "bookTitle"> & {
            book(): Made;
        };
        readonly car: Texts<"carFuelType" | "carMaker" | "carModel" | "carTransmissionType" | "carType"> & {
            car(): Made;
        };
        readonly celebrity: Texts<"celebrityActor" | "celebrityBusiness" | "celebritySport">;
        readonly color: Texts<"color" | "hexColor" | "niceColors" | "safeColor"> & {
            rgbColor(): number[];
        };
        readonly company: Texts<"blurb" | "bs" | "buzzword" | "company" | "companySuffix" | "jobDescriptor" | "jobLevel" | "jobTitle" | "slogan"> & {
            job(): Made;
        };
        readonly emoji: Texts<"emoji" | "emojiAlias" | "emojiCategory" | "emojiDescription" | "emojiTag">;
        readonly error: Texts<"databaseError" | "error" | "errorObjectWord" | "gRPCError" | "httpClientError" | "httpError" | "httpServerError"
            | "runtimeError" | "validationError">;
        readonly file: Texts<"fileExtension" | "fileMimeType">;
        readonly finance: Texts<"cusip" | "isin">;
        readonly food: Texts<"breakfast" | "dessert" | "dinner" | "drink" | "fruit" | "lunch" | "snack" | "vegetable">;
        readonly game: Texts<"gamertag"> & {
            dice(numdice?: number, sides?: number[]): number[];
        };
        readonly hacker: Texts<"hackerAbbreviation" | "hackerAdjective" | "hackerNoun" | "hackerPhrase" | "hackerVerb" | "hackeringVerb">;
        readonly hipster: Texts<"hipsterWord"> & {
            hipsterParagraph(paragraphcount?: number, sentencecount?: number, wordcount?: number, paragraphseparator?: string): string;
            hipsterSentence(wordcount?: number): string;
        };
        readonly internet: Texts<"chromeUserAgent" | "domainName" | "domainSuffix" | "firefoxUserAgent" | "httpMethod" | "httpVersion" | "inputName"
            | "ipv4Address" | "ipv6Address" | "logLevel" | "macAddress" | "operaUserAgent" | "safariUserAgent" | "url" | "userAgent"
            | "username"> & Numbers<"httpStatusCode" | "httpStatusCodeSimple"> & {
            imageUrl(width?: number, height?: number): string;
            password(lower?: boolean, upper?: boolean, numeric?: boolean, special?: boolean, space?: boolean, length?: number): string;
        };
        readonly language: Texts<"language" | "languageAbbreviation" | "languageBcp" | "programmingLanguage">;
        readonly minecraft: Texts<"minecraftAnimal" | "minecraftArmorPart" | "minecraftArmorTier" | "minecraftBiome" | "minecraftDye" | "minecraftFood"
            | "minecraftMobBoss" | "minecraftMobHostile" | "minecraftMobNeutral" | "minecraftMobPassive" | "minecraftOre"
            | "minecraftTool" | "minecraftVillagerJob" | "minecraftVillagerLevel" | "minecraftVillagerStation" | "minecraftWeapon"
            | "minecraftWeather" | "minecraftWood">;
        readonly movie: Texts<"movieGenre" | "movieName"> & {
            movie(): Made;
        };
        readonly numbers: Texts<"hexUint128" | "hexUint16" | "hexUint256" | "hexUint32" | "hexUint64" | "hexUint8"> & Numbers<"float32" | "float64" | "int16" | "int32" | "int64" | "int8" | "uint16" | "uint32" | "uint64" | "uint8"> & {
            boolean(): boolean;
            float32Range(min: number, max: number): number;
            float64Range(min: number, max: number): number;
            intRange(min: number, max: number): number;
            number(min?: number, max?: number): number;
            randomInt(ints: number[]): number;
            randomUint(uints: number[]): number;
            shuffleInts(ints: number[]): number[];
            uintRange(min?: number, max?: number): number;
        };
        readonly payment: Texts<"achAccountNumber" | "achRoutingNumber" | "bitcoinAddress" | "bitcoinPrivateKey" | "creditCardCVV" | "creditCardExp"
            | "creditCardExpMonth" | "creditCardExpYear" | "creditCardNumberFormatted" | "creditCardType" | "currencyLong"
            | "currencyShort"> & {
            creditCard(): Made;
            creditCardNumber(types?: string[], bins?: string[], gaps?: boolean): string;
            currency(): Made;
            price(min?: number, max?: number): number;
        };
        readonly person: Texts<"email" | "firstName" | "gender" | "hobby" | "lastName" | "middleName" | "name" | "namePrefix" | "nameSuffix" | "phone"
            | "phoneFormatted" | "school" | "ssn"> & {
            person(): Made;
            teams(people: string[], teams: string[]): { [team: string]: string[] };
        };
        readonly product: Texts<"productCategory" | "productDescription" | "productFeature" | "productMaterial" | "productName" | "productUpc"> & {
            product(): Made;
        };
        readonly strings: Texts<"digit" | "letter" | "uuid"> & {
            digitN(count: number): string;
            letterN(count: number): string;
            lexify(str: string): string;
            numerify(str: string): string;
            randomString(strs: string[]): string;
            shuffleStrings(strs: string[]): string[];
        };
        readonly time: Texts<"futureTime" | "monthString" | "pastTime" | "timezone" | "timezoneAbbreviation" | "timezoneFull" | "timezoneRegion"
            | "weekday"> & Numbers<"day" | "hour" | "minute" | "month" | "nanosecond" | "second" | "timezoneOffset" | "year"> & {
            date(format?: string): string;
            dateRange(startdate?: string, enddate?: string, format?: string): string;
        };
        readonly word: Texts<"actionVerb" | "adjective" | "adverb" | "adverbDegree" | "adverbFrequencyDefinite" | "adverbFrequencyIndefinite"
            | "adverbManner" | "adverbPhrase" | "adverbPlace" | "adverbTimeDefinite" | "adverbTimeIndefinite" | "comment"
            | "connective" | "connectiveCasual" | "connectiveComparitive" | "connectiveComplaint" | "connectiveExamplify"
            | "connectiveListing" | "connectiveTime" | "demonstrativeAdjective" | "descriptiveAdjective" | "helpingVerb"
            | "indefiniteAdjective" | "interjection" | "interrogativeAdjective" | "intransitiveVerb" | "linkingVerb"
            | "loremIpsumWord" | "noun" | "nounAbstract" | "nounCollectiveAnimal" | "nounCollectivePeople" | "nounCollectiveThing"
            | "nounCommon" | "nounConcrete" | "nounCountable" | "nounDeterminer" | "nounPhrase" | "nounProper" | "nounUncountable"
            | "phrase" | "possessiveAdjective" | "preposition" | "prepositionCompound" | "prepositionDouble" | "prepositionPhrase"
            | "prepositionSimple" | "pronoun" | "pronounDemonstrative" | "pronounIndefinite" | "pronounInterrogative"
            | "pronounObject" | "pronounPersonal" | "pronounPossessive" | "pronounReflective" | "pronounRelative"
            | "properAdjective" | "quantitativeAdjective" | "question" | "quote" | "simpleSentence" | "transitiveVerb" | "verb"
            | "verbPhrase" | "word"> & {
            loremIpsumParagraph(paragraphcount?: number, sentencecount?: number, wordcount?: number, paragraphseparator?: string): string;
            loremIpsumSentence(wordcount?: number): string;
            paragraph(paragraphcount?: number, sentencecount?: number, wordcount?: number, paragraphseparator?: string): string;
            sentence(wordcount?: number): string;
        };
        /** All functions. */
        readonly zen: { readonly [name: string]: (...args: any[]) => any };
    }

    /** A source with the seed of the variable XK6_FAKER_SEED. */
    const faker: Faker;
    export { faker as default };
}

declare module "k6/x/mqtt" {
    /** Qualities of service. */
    export const QoS: { readonly AtMostOnce: 0; readonly AtLeastOnce: 1; readonly ExactlyOnce: 2 };

    type Quality = 0 | 1 | 2;
    type Tags = { [name: string]: string };
    type Payload = string | ArrayBuffer | ArrayBufferView;

    export interface ClientOptions {
        client_id?: string;
        username?: string;
        password?: string;
        /** Called for each connection. */
        credentials_provider?: () => { username: string; password: string };
        /** Published by the broker when the client vanishes. */
        will?: { topic: string; payload: Payload; qos?: Quality; retain?: boolean };
        tags?: Tags;
    }

    export interface ConnectOptions {
        /** Seconds between two signs of life; the default is 60. */
        keepalive?: number;
        /** Milliseconds; the default is 30,000. */
        connect_timeout?: number;
        clean_session?: boolean;
        /** Further brokers, tried in order. */
        servers?: string[];
        tags?: Tags;
    }

    export interface MqttError extends Error {
        name: "MQTTError";
        method: string;
    }

    /** A client of a broker of MQTT 3.1.1. */
    export class Client {
        constructor(options?: ClientOptions);
        readonly connected: boolean;
        on(event: "connect" | "end" | "reconnect", handler: () => void): void;
        on(event: "message", handler: (topic: string, payload: ArrayBuffer) => void): void;
        on(event: "error", handler: (error: MqttError) => void): void;
        /** `mqtt://HOST:PORT`, `mqtts://HOST:PORT`. Waits; a failure is an event. */
        connect(url: string | ConnectOptions, options?: ConnectOptions): void;
        connectAsync(url: string | ConnectOptions, options?: ConnectOptions): Promise<void>;
        reconnect(): void;
        reconnectAsync(): Promise<void>;
        end(options?: { tags?: Tags }): void;
        endAsync(options?: { tags?: Tags }): Promise<void>;
        publish(topic: string, payload: Payload, options?: { qos?: Quality; retain?: boolean; tags?: Tags }): void;
        publishAsync(
            topic: string,
            payload: Payload,
            options?: { qos?: Quality; retain?: boolean; tags?: Tags },
        ): Promise<void>;
        subscribe(topics: string | string[], options?: { qos?: Quality; tags?: Tags }): void;
        subscribeAsync(topics: string | string[], options?: { qos?: Quality; tags?: Tags }): Promise<void>;
        unsubscribe(topics: string | string[], options?: { tags?: Tags }): void;
        unsubscribeAsync(topics: string | string[], options?: { tags?: Tags }): Promise<void>;
    }
    export * as default from "k6/x/mqtt";
}

declare module "k6/x/amqp" {
    /** Version of the extension whose functions these are. */
    export const version: string;

    export interface Publication {
        /** A queue, or the routing key of an exchange. */
        queue_name: string;
        body: string | ArrayBuffer | ArrayBufferView;
        /** The number that `start()` returned; the default is the last one. */
        connection_id?: number;
        exchange?: string;
        content_type?: string;
        headers?: { [name: string]: any };
        mandatory?: boolean;
        immediate?: boolean;
        persistent?: boolean;
        /** Seconds since 1970. */
        timestamp?: number;
    }

    /** Connects to a broker; the number of the connection in this VU. */
    export function start(options: { connection_url: string }): number;
    export function publish(publication: Publication): void;
    /** Passes the messages that are in a queue to a function. Without `auto_ack` they return to it. */
    export function listen(options: {
        queue_name: string;
        listener: (body: string) => void;
        auto_ack?: boolean;
        connection_id?: number;
    }): void;
    export * as default from "k6/x/amqp";
}

declare module "k6/x/amqp/queue" {
    export const version: string;

    export interface Queue {
        name: string;
        messages: number;
        consumers: number;
    }

    type Binding = {
        queue_name: string;
        exchange_name: string;
        routing_key?: string;
        args?: { [name: string]: any } | null;
        connection_id?: number;
    };

    export function declare(options: {
        name?: string;
        durable?: boolean;
        delete_when_unused?: boolean;
        exclusive?: boolean;
        args?: { [name: string]: any } | null;
        connection_id?: number;
    }): Queue;
    export function inspect(name: string): Queue;
    export function purge(name: string): number;
    export function bind(binding: Binding): void;
    export function unbind(binding: Binding): void;
    function remove(name: string): void;
    export { remove as delete };
    export * as default from "k6/x/amqp/queue";
}

declare module "k6/x/amqp/exchange" {
    export const version: string;

    type Binding = {
        destination_exchange_name: string;
        source_exchange_name: string;
        routing_key?: string;
        args?: { [name: string]: any } | null;
        connection_id?: number;
    };

    export function declare(options: {
        name: string;
        kind: string;
        durable?: boolean;
        auto_delete?: boolean;
        internal?: boolean;
        args?: { [name: string]: any } | null;
        connection_id?: number;
    }): void;
    export function bind(binding: Binding): void;
    export function unbind(binding: Binding): void;
    function remove(name: string): void;
    export { remove as delete };
    export * as default from "k6/x/amqp/exchange";
}

declare module "k6/x/exec" {
    export interface CommandOptions {
        /** The folder in which the program runs. */
        dir?: string;
        /** `NAME=VALUE`, beside the variables of this process. */
        env?: string[];
        /** Whether a failure is an exception; otherwise it ends the test. */
        continue_on_error?: boolean;
        /** Whether the exception has the output. */
        include_stdout_on_error?: boolean;
        /** Whether errors are part of the output. */
        combine_output?: boolean;
    }

    /** Runs a program of this machine and returns its output. Needs the flag `--allow-exec`. */
    export function command(program: string, args?: unknown[], options?: CommandOptions): string;
    export * as default from "k6/x/exec";
}

declare module "k6/x/dns" {
    /** A refusal has the server's code as its `kind`. */
    export interface DnsError extends Error {
        kind?: number;
    }

    /** Records of a name, from the server at `IP:PORT`. */
    export function resolve(query: string, recordType: "A" | "AAAA" | "TXT", nameserver: string): Promise<string[]>;
    /** Addresses of a name, from the operating system. */
    export function lookup(host: string): Promise<string[]>;
    export * as default from "k6/x/dns";
}

declare module "k6/crypto/x509" {
    /** A part of a name, such as `2.5.4.3` and its value. */
    export interface RelativeName {
        type: string;
        value: string;
    }

    export interface Issuer {
        commonName: string;
        country: string;
        stateOrProvinceName: string;
        localityName: string;
        organizationName: string;
        names: RelativeName[];
    }

    export interface Subject extends Issuer {
        postalCode: string;
        streetAddress: string;
        organizationalUnitName: string[];
    }

    export interface PublicKey {
        algorithm: "RSA" | "DSA" | "ECDSA";
        /** Numbers of the key, as `bigint`. */
        key: { [name: string]: any };
    }

    export interface Certificate {
        subject: Subject;
        issuer: Issuer;
        /** In ISO 8601. */
        notBefore: string;
        notAfter: string;
        altNames: string[];
        signatureAlgorithm: string;
        /** Bytes of the SHA-1 digest. */
        fingerPrint: number[];
        publicKey: PublicKey;
    }

    /** A certificate in PEM. */
    export type Pem = string | ArrayBuffer | ArrayBufferView;

    export function parse(pem: Pem): Certificate;
    export function getAltNames(pem: Pem): string[];
    export function getIssuer(pem: Pem): Issuer;
    export function getSubject(pem: Pem): Subject;
    export * as default from "k6/crypto/x509";
}

declare module "k6/experimental/webcrypto" {
    const webCrypto: Crypto;
    const webCryptoKey: typeof CryptoKey;
    export { webCrypto as crypto, webCryptoKey as CryptoKey };
    export * as default from "k6/experimental/webcrypto";
}

declare module "k6/experimental/websockets" {
    export { Blob, WebSocket } from "k6/websockets";
    export * as default from "k6/experimental/websockets";
}

/** Modules from the network have no types. */

declare module "plimsoll/data" {
    /** Options of `rows()`. */
    export interface RowsOptions {
        /** `unique` uses no row twice; `random` draws with replacement. Default: `sequential`. */
        order?: "sequential" | "unique" | "random";
        /** When no row is left. Default: `recycle`; for `unique` `stop`. */
        end?: "recycle" | "stop" | "error";
        /** Default: by the file's name. */
        format?: "csv" | "ndjson";
        /** One ASCII character. Default: a comma; a tab for `.tsv`. */
        delimiter?: string;
        /** `true`: the first row has the names; `false`: rows are lists; a list: the names. Default: `true`. */
        header?: boolean | string[];
    }

    /** The cursor of a file, which all VUs share. */
    export interface Rows<Row = any> {
        /** The next row: an object, a list of fields, or the value of a line. */
        next(): Row;
    }

    /** Opens a file in the init context. */
    export function rows<Row = any>(path: string, options?: RowsOptions): Rows<Row>;
    export * as default from "plimsoll/data";
}

declare module "plimsoll/shared" {
    /** A number that all VUs share. */
    export interface SharedCounter {
        /** Adds, 1 by default, and returns the sum. */
        add(by?: number): number;
        get(): number;
        /** Returns the value before. */
        set(value: number): number;
        /** Sets the value if it is `expected`, and returns whether it was. */
        compareAndSet(expected: number, value: number): boolean;
        clear(): void;
    }

    /** A queue that all VUs share. Values are copied as JSON. */
    export interface SharedQueue<Value = any> {
        /** Returns `false` if the queue is full. */
        push(value: Value): boolean;
        /** Takes the first value; waits for one at most so long (seconds, or a text with a unit). */
        pop(timeout?: number | string | { timeout: number | string }): Value | undefined;
        readonly size: number;
        clear(): void;
    }

    /** A map that all VUs share. Values are copied as JSON. */
    export interface SharedMap<Value = any> {
        get(key: string): Value | undefined;
        has(key: string): boolean;
        keys(): string[];
        /** Returns the value before. */
        set(key: string, value: Value): Value | undefined;
        /** Sets the value unless the key is there; returns the value that was there. */
        setIfAbsent(key: string, value: Value): Value | undefined;
        /** Removes a key and returns its value. */
        take(key: string): Value | undefined;
        delete(key: string): boolean;
        readonly size: number;
        clear(): void;
    }

    export function counter(name: string): SharedCounter;
    export function queue<Value = any>(name: string, options?: { max?: number }): SharedQueue<Value>;
    export function map<Value = any>(name: string, options?: { max?: number }): SharedMap<Value>;
    export * as default from "plimsoll/shared";
}

declare module "plimsoll/stream" {
    /** Parameters of requests, and how their responses are read. */
    export interface StreamParams extends Omit<import("k6/http").Params, "responseType"> {
        /** Server-sent events, lines, or bytes as they are received. Default: by the `Content-Type`. */
        format?: "events" | "lines" | "pieces";
        /** `none` measures items and does not hand them to the script. */
        responseType?: "text" | "binary" | "none" | null;
    }

    /** A part of a response. */
    export interface Item {
        /** A text; bytes of pieces. */
        data: any;
        /** Milliseconds from the start of sending. */
        at: number;
        id?: string;
        name?: string;
        comment?: string;
    }

    /** A response that is read while it comes. */
    export interface Stream extends Iterable<Item> {
        /** The next item; nothing at the end. */
        next(): Item | undefined;
        close(): void;
        /** Reads to the end. */
        drain(): Stream;
        readonly status: number;
        readonly proto: string;
        readonly headers: { [name: string]: string };
        readonly ended: boolean;
        readonly complete: boolean;
        readonly url?: string;
        readonly error: string;
        readonly error_code: number;
        /** The text of a refused request. */
        readonly body: string | null;
        readonly events?: number;
        /** In milliseconds. */
        readonly timings: { firstEvent?: number; lastEvent?: number; duration?: number };
    }

    /** What an event of a language model's answer says. */
    export interface Said {
        text?: string;
        /** Tokens of the event; 1 by default. */
        tokens?: number;
        /** Whether the event has tokens. */
        isPiece?: boolean;
        isEnd?: boolean;
        /** The server's count of all tokens. */
        total?: number;
        error?: string;
    }

    /** The answer of a language model. Times are milliseconds. */
    export interface Reply {
        status: number;
        headers: { [name: string]: string };
        error: string;
        error_code: number;
        body: string | null;
        /** Whether the answer came to its end. */
        complete: boolean;
        text: string;
        tokens: number;
        firstToken?: number;
        tokensPerSecond?: number;
        duration?: number;
    }

    export function get(url: string, params?: StreamParams): Stream;
    export function post(url: string, body?: any, params?: StreamParams): Stream;
    export function request(method: string, url: string, body?: any, params?: StreamParams): Stream;
    /** Sends a request to a language model with `stream: true`, and reads the answer to its end. */
    export function chat(url: string, request: object, params?: StreamParams & { read?: (event: Item) => Said | undefined }): Reply;
    export * as default from "plimsoll/stream";
}

declare module "k6/x/sse" {
    export interface Event {
        id: string;
        name: string;
        data: string;
        comment: string;
    }

    export interface Client {
        on(name: "open", handler: () => void): void;
        on(name: "event", handler: (event: Event) => void): void;
        on(name: "error", handler: (error: { error(): string }) => void): void;
        close(): void;
    }

    export interface Params {
        method?: string;
        body?: string;
        headers?: { [name: string]: string };
        tags?: { [name: string]: string };
        timeout?: number | string;
    }

    export interface Response {
        url: string;
        status: number;
        headers: { [name: string]: string };
        body: string;
        error: string;
    }

    /** Returns when the stream has ended. */
    export function open(url: string, setup: (client: Client) => void): Response;
    export function open(url: string, params: Params, setup: (client: Client) => void): Response;
    export * as default from "k6/x/sse";
}

declare module "https://*";

/** Loads a CommonJS module or a module of k6. */
declare function require(name: string): any;

/** The global object. */
declare const global: typeof globalThis;
