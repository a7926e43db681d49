import { generateKeyPairSync } from "node:crypto";
import { createEmulator } from "emulate";
import { type GithubOptions, githubStore } from "../../store/github/github-store.ts";
import { startFaultProxy } from "./fault-proxy.ts";

export type Peer = Awaited<ReturnType<typeof startPeer>>;

export interface PeerCommit {
	sha: string;
	commit: { message: string; author: { name: string; email: string; date: string } };
}

/** PKCS#1, as GitHub issues it. */
const { privateKey } = generateKeyPairSync("rsa", {
	modulusLength: 2048,
	privateKeyEncoding: { type: "pkcs1", format: "pem" },
	publicKeyEncoding: { type: "spki", format: "pem" },
});

/** Pauses move this clock, and take no time. */
export function pausingClock(startMs?: number) {
	let ahead = 0;
	return {
		now: () => new Date((startMs ?? Date.now()) + ahead),
		sleep: async (ms: number) => {
			ahead += ms;
		},
		slept: () => ahead,
	};
}

/** A GitHub with one repository, which has one commit, a README; behind a proxy that makes faults. */
export async function startPeer() {
	const token = "the-token-of-the-test";
	const repository = "maps/layers";
	const emulator = await createEmulator({
		service: "github",
		port: 0,
		seed: {
			tokens: { [token]: { login: "maps", scopes: ["repo"] } },
			github: {
				users: [{ login: "maps" }],
				repos: [{ owner: "maps", name: "layers", auto_init: true }],
				apps: [
					{
						app_id: 4711,
						slug: "publisher",
						name: "Publisher",
						private_key: privateKey,
						permissions: { contents: "write", pull_requests: "write" },
						installations: [{ installation_id: 815, account: "maps" }],
					},
				],
			},
		},
	});
	const address = emulator.url.replace("localhost", "127.0.0.1");
	const proxy = await startFaultProxy(address);

	async function api<T>(method: string, path: string, body?: unknown) {
		const answer = await fetch(`${address}/repos/${repository}${path}`, {
			method,
			// An idle connection may be closed just when a busy machine gets to use it again.
			headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json", Connection: "close" },
			body: body === undefined ? undefined : JSON.stringify(body),
		});
		const text = await answer.text();
		return { status: answer.status, data: (text === "" ? null : JSON.parse(text)) as T };
	}

	const contents = (path: string, branch: string) =>
		api<{ content: string; sha?: string }>("GET", `/contents/${path}?ref=${encodeURIComponent(branch)}`);

	async function close(): Promise<void> {
		await proxy[Symbol.asyncDispose]();
		await emulator.close();
	}

	return {
		proxy,
		repository,
		token,
		env: { GITHUB_REPOSITORY: repository, GITHUB_TOKEN: token, GITHUB_API_URL: proxy.url },
		/** Is installed on the repository. */
		app: { appId: "4711", privateKey },
		/** A patient store through the proxy. */
		store: (options: Partial<GithubOptions> = {}) =>
			githubStore({
				repository,
				auth: { token },
				apiUrl: proxy.url,
				now: () => new Date(),
				...options,
				limits: { requestMs: 20_000, waitMs: 30_000, batchMs: 30_000, ...options.limits },
			}),
		/** Past the proxy, and without the project: `api<Commit[]>("GET", "/commits?sha=main")`. */
		api,
		/** Newest first. */
		async commits(branch = "main") {
			const commits: PeerCommit[] = [];
			for (let page = 1; ; page += 1) {
				const query = `sha=${encodeURIComponent(branch)}&per_page=100&page=${page}`;
				const { status, data } = await api<PeerCommit[]>("GET", `/commits?${query}`);
				if (status !== 200) return commits;
				commits.push(...data);
				if (data.length < 100) return commits;
			}
		},
		async file(path: string, branch = "main"): Promise<string | null> {
			const { status, data } = await contents(path, branch);
			return status === 200 ? Buffer.from(data.content, "base64").toString("utf8") : null;
		},
		/** As another writer. */
		async push(path: string, text: string, branch = "main"): Promise<void> {
			const { data } = await contents(path, branch);
			const content = Buffer.from(text).toString("base64");
			const body = { message: `push ${path}`, content, branch, sha: data.sha };
			const { status } = await api("PUT", `/contents/${path}`, body);
			if (status > 201) throw new Error(`the peer answers ${status} to a push`);
		},
		close,
		[Symbol.asyncDispose]: close,
	};
}
