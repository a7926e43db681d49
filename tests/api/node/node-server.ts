import { type AddressInfo, connect, type Socket } from "node:net";
import type { Context, OtherRoute } from "../../../api/context.ts";
import type { AnswerEvent, NodeOptions } from "../../../api/node/serve.ts";
import { createNodeServer } from "../../../api/node/serve.ts";
import type { Store } from "../../../store/store.ts";
import { Handlers, manual, secrets } from "../../helpers/handlers.ts";
import { signedHeaders } from "../../helpers/signed.ts";
import { suite, type Test } from "../../helpers/suite.ts";

export type TestOptions = Partial<Omit<NodeOptions, "context">> & { context?: Partial<Context> };

export function pageRoute(answer: OtherRoute["answer"]): OtherRoute {
	return { name: "page", matches: () => true, answer };
}

export function linesOf(headers: Record<string, string>): string {
	const lines = Object.entries(headers).map((header) => `${header.join(": ")}\r\n`);
	return lines.join("");
}

export class TestServer {
	readonly logged: AnswerEvent[] = [];
	readonly #handlers = new Handlers();
	readonly reported = this.#handlers.reported;
	gate: Promise<void> = Promise.resolve();
	#letGo = () => {};
	readonly #connections = new Set<Connection>();
	readonly #server: ReturnType<typeof createNodeServer>;
	static readonly #open = new Set<TestServer>();

	private constructor(options: TestOptions) {
		const { context, store, file } = this.#handlers;
		const change: Store["change"] = async (...words) => {
			await this.gate;
			return store.change(...words);
		};
		this.#server = createNodeServer({
			file,
			observe: (event) => void (event.id !== null && this.logged.push(event)),
			...options,
			context: { ...context, store: { ...store, change }, now: () => new Date(), ...options.context },
		});
	}

	/** The smallkeys of the changes that were made. */
	get stored(): (string | null)[] {
		return this.#handlers.store.commits.map(({ smallkey }) => smallkey);
	}

	static async start(options: TestOptions = {}): Promise<TestServer> {
		const server = new TestServer(options);
		TestServer.#open.add(server);
		await new Promise<void>((resolve) => server.#server.server.listen(0, "127.0.0.1", resolve));
		return server;
	}

	static async closeAll(): Promise<void> {
		for (const server of TestServer.#open) {
			server.#letGo();
			for (const { socket } of server.#connections) socket.destroy();
			server.#server.server.closeAllConnections();
			await server.end();
		}
	}

	get port(): number {
		return (this.#server.server.address() as AddressInfo).port;
	}

	get url(): string {
		return `http://127.0.0.1:${this.port}`;
	}

	async end(): Promise<void> {
		await this.#server.end();
		TestServer.#open.delete(this);
	}

	hold(): () => void {
		this.gate = new Promise((resolve) => {
			this.#letGo = resolve;
		});
		return this.#letGo;
	}

	async put(smallkey: string, more = "", secret = secrets.jstest): Promise<string> {
		const path = `/register/${smallkey}`;
		const head = linesOf(await signedHeaders(path, manual, { secret }));
		return `PUT ${path} HTTP/1.1\r\nHost: h\r\n${head}Content-Length: ${manual.length}\r\n${more}\r\n${manual}`;
	}

	connect(bytes = ""): Connection {
		const connection = new Connection(this.port);
		this.#connections.add(connection);
		void connection.closed.then(() => this.#connections.delete(connection));
		connection.send(bytes);
		return connection;
	}

	async exchange(bytes: string): Promise<Connection> {
		const connection = this.connect(bytes);
		await connection.closed;
		return connection;
	}
}

export function serverSuite(name: string): Test {
	const test = suite(name);
	test.after.each(() => TestServer.closeAll());
	return test;
}

/** Only a hash shows that its signature is wrong. */
export function plausibleHead(bodyBytes: number, more = ""): string {
	const signed = `Authorization: ${"x".repeat(43)}\r\nSender: jstest\r\nTimeStamp: ${new Date().toISOString()}\r\n`;
	return `PUT /register/plausible HTTP/1.1\r\nHost: h\r\n${signed}Content-Length: ${bodyBytes}\r\n${more}\r\n`;
}

export class Connection {
	text = "";
	readonly socket: Socket;
	readonly closed: Promise<void>;

	constructor(port: number) {
		this.socket = connect(port, "127.0.0.1");
		this.socket.on("data", (data) => {
			this.text += data.toString("latin1");
		});
		this.socket.on("error", () => undefined);
		this.closed = new Promise((resolve) => this.socket.once("close", () => resolve()));
	}

	send(bytes: string): void {
		this.socket.write(bytes, "latin1");
	}

	get statuses(): number[] {
		return [...this.text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map((match) => Number(match[1]));
	}
}
