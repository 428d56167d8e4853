/** A transaction pooler as small as can be: many clients share few server connections, each only for one transaction. */
import net from "node:net";

/** Clients are let in without a word; each is told the parameters of the first server connection. */
const AUTHENTICATED = Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 0]);
const IDLE = Buffer.from([0x5a, 0, 0, 0, 5, 0x49]);
const SSL_REQUEST = 80877103;
const CANCEL_REQUEST = 80877102;
const PROTOCOL = 196608;
/** Query and Sync: each is answered by one ReadyForQuery. */
const ANSWERED = new Set(["Q", "S"]);

interface Message {
  type: string;
  bytes: Buffer;
}

/** Cuts a stream into messages; the first one of a client has no type. */
function messages(socket: net.Socket, typed: boolean, take: (message: Message) => void): void {
  let rest = Buffer.alloc(0);
  let has_type = typed;
  // Small messages go on at once: waiting for more would cost 40 ms each.
  socket.setNoDelay(true);
  socket.on("data", (part) => {
    rest = Buffer.concat([rest, part as Buffer]);
    for (;;) {
      const head = has_type ? 1 : 0;
      if (rest.length < head + 4) return;
      const length = head + rest.readInt32BE(head);
      if (rest.length < length) return;
      const bytes = Buffer.from(rest.subarray(0, length));
      rest = rest.subarray(length);
      const type = has_type ? String.fromCharCode(bytes[0]!) : "";
      // After a refused SSL request comes the first message once more.
      if (!has_type && bytes.readInt32BE(4) !== SSL_REQUEST) has_type = true;
      take({ type, bytes });
    }
  });
}

interface Server {
  socket: net.Socket;
  client: Client | null;
}

interface Client {
  socket: net.Socket;
  server: Server | null;
  waiting: boolean;
  /** What it said while it had no server connection. */
  held: Message[];
  /** Answers that are still to come. */
  open: number;
  /** Different server connections that it was given. */
  servers: Set<Server>;
}

/** Between clients and a server, with few connections to it. */
export class Pooler {
  readonly #idle: Server[] = [];
  readonly #servers = new Set<Server>();
  readonly #clients = new Set<Client>();
  readonly #queue: Client[] = [];
  readonly #door = net.createServer((socket) => this.#welcome(socket));
  #parameters: Buffer[] = [];
  /** Statements with a name that somebody prepared: they would be elsewhere the next time. */
  readonly named: string[] = [];
  /** How many server connections the client that met the most has met. */
  met_most = 0;
  url = "";

  /** Takes so many connections to the server at `url`. */
  static async start(url: string, servers: number): Promise<Pooler> {
    const pooler = new Pooler();
    for (let n = 0; n < servers; n += 1) await pooler.#connect(new URL(url), n);
    await new Promise<void>((resolve) => pooler.#door.listen(0, "127.0.0.1", resolve));
    const mine = new URL(url);
    mine.port = String((pooler.#door.address() as net.AddressInfo).port);
    pooler.url = mine.href;
    return pooler;
  }

  async close(): Promise<void> {
    for (const { socket } of [...this.#clients, ...this.#servers]) socket.destroy();
    await new Promise<void>((resolve) => this.#door.close(() => resolve()));
  }

  async #connect(to: URL, n: number): Promise<void> {
    const { server, told } = await connect(to, n, (from, message) => this.#fromServer(from, message));
    this.#parameters = told;
    this.#servers.add(server);
    this.#idle.push(server);
    server.socket.on("close", () => {
      this.#servers.delete(server);
      if (this.#idle.includes(server)) this.#idle.splice(this.#idle.indexOf(server), 1);
      server.client?.socket.destroy();
    });
  }

  #welcome(socket: net.Socket): void {
    const client: Client = { socket, server: null, waiting: false, held: [], open: 0, servers: new Set() };
    this.#clients.add(client);
    socket.on("error", () => {});
    socket.on("close", () => this.#gone(client));
    messages(socket, false, (message) => {
      if (message.type !== "") {
        this.#fromClient(client, message);
        return;
      }
      const code = message.bytes.readInt32BE(4);
      if (code === SSL_REQUEST) socket.write("N");
      else if (code === CANCEL_REQUEST) socket.end();
      else socket.write(Buffer.concat([AUTHENTICATED, ...this.#parameters, IDLE]));
    });
  }

  #gone(client: Client): void {
    this.#clients.delete(client);
    if (this.#queue.includes(client)) this.#queue.splice(this.#queue.indexOf(client), 1);
    // In the middle of a transaction: its connection is of no use to others.
    client.server?.socket.destroy();
  }

  #fromClient(client: Client, message: Message): void {
    const { type, bytes } = message;
    if (type === "X") {
      client.socket.end();
      return;
    }
    if (type === "P" && bytes[5] !== 0) this.named.push(bytes.toString("utf8", 5, bytes.indexOf(0, 5)));
    if (client.server) {
      pass(client, message);
      return;
    }
    client.held.push(message);
    if (client.waiting) return;
    client.waiting = true;
    this.#queue.push(client);
    this.#lend();
  }

  #fromServer(server: Server, { type, bytes }: Message): void {
    // Notifications, and notices of nobody's transaction, reach nobody.
    const { client } = server;
    if (!client || type === "A") return;
    client.socket.write(bytes);
    if (type !== "Z") return;
    client.open -= 1;
    if (client.open > 0 || bytes[5] !== IDLE[5]) return;
    client.server = null;
    server.client = null;
    this.#idle.push(server);
    this.#lend();
  }

  /** Whoever waits longest gets the connection that has been idle longest: rarely the one it had before. */
  #lend(): void {
    while (this.#queue.length > 0 && this.#idle.length > 0) {
      const client = this.#queue.shift()!;
      const server = this.#idle.shift()!;
      client.waiting = false;
      client.server = server;
      server.client = client;
      client.servers.add(server);
      this.met_most = Math.max(this.met_most, client.servers.size);
      for (const message of client.held.splice(0)) pass(client, message);
    }
  }
}

function pass(client: Client, { type, bytes }: Message): void {
  if (ANSWERED.has(type)) client.open += 1;
  client.server!.socket.write(bytes);
}

/** One server connection, and the parameters that it was told. */
function connect(
  to: URL,
  n: number,
  hear: (server: Server, message: Message) => void,
): Promise<{ server: Server; told: Buffer[] }> {
  return new Promise((resolve, reject) => {
    const socket = net.connect(Number(to.port), to.hostname);
    const server: Server = { socket, client: null };
    const told: Buffer[] = [];
    let ready = false;
    socket.on("error", reject);
    messages(socket, true, (message) => {
      if (ready) {
        hear(server, message);
        return;
      }
      if (message.type === "S") told.push(message.bytes);
      if (message.type === "E") reject(new Error(message.bytes.toString()));
      ready = message.type === "Z";
      if (ready) resolve({ server, told });
    });
    const facts = ["user", to.username, "database", to.pathname.slice(1), "application_name", `pooler ${n}`, ""];
    const body = Buffer.from(facts.map((fact) => `${fact}\0`).join(""));
    const head = Buffer.alloc(8);
    head.writeInt32BE(8 + body.length, 0);
    head.writeInt32BE(PROTOCOL, 4);
    socket.write(Buffer.concat([head, body]));
  });
}
