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
        /** SQLite only; PostgreSQL has `RETURNING`. */
        lastInsertId(): number;
    }

    /** A row: one property per column. */
    export interface Row {
        [column: string]: any;
    }

    /** A handle of a database: one connection per VU, opened by its first statement. */
    export interface Database {
        exec(statement: string, ...parameters: Parameter[]): Result;
        query(statement: string, ...parameters: Parameter[]): Row[];
        close(): void;
    }

    /** Opens a database: a URL or `name=value` words for PostgreSQL, a file or `:memory:` for SQLite. */
    export function open(driver: Driver | string, dataSourceName: string): Database;
    export function exec(database: Database, statement: string, ...parameters: Parameter[]): Result;
    export function query(database: Database, statement: string, ...parameters: Parameter[]): Row[];
    export * as default from "k6/x/sql";
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
