import { pkcs8Of, signJwt } from "./jwt.ts";

/** A token, or a GitHub App with its private key in PEM: PKCS#1, as GitHub gives it, or PKCS#8. */
export type Credentials = { token: string } | { appId: string; privateKey: string };

/** Asks GitHub with headers of the caller's; only 2xx, 404, 409 and 422 come back, what else there is is thrown. */
export type AskAsApp = (
	method: string,
	route: string,
	headers: Record<string, string>,
) => Promise<{ status: number; data: Record<string, unknown> }>;

/** Gives the `Authorization` header of the next request. */
export interface Authorize {
	(ask: AskAsApp): Promise<string>;
	/** Drops a token that GitHub does not accept any more; false where none can be had in its place. */
	forget(): boolean;
}

/** An installation's token is renewed this long before it ends, in milliseconds. */
const margin = 120_000;

/**
 * Authorization by a fixed token, or as the installation of an App on the repository, which is found by itself.
 * @throws {Error} where the private key is not PEM; no error holds any of it
 */
export function authorizeWith(credentials: Credentials, now: () => Date): Authorize {
	if ("token" in credentials) {
		const header = `Bearer ${credentials.token}`;
		return Object.assign(async () => header, { forget: () => false });
	}
	const { appId, privateKey } = credentials;
	const key = pkcs8Of(privateKey);
	let token: { text: string; until: number } | null = null;

	async function authorize(ask: AskAsApp): Promise<string> {
		if (!token || token.until - margin < now().getTime()) {
			token = await installationToken(ask, `Bearer ${await signJwt(appId, key, now())}`);
		}
		return `Bearer ${token.text}`;
	}

	function forget(): boolean {
		const had = token !== null;
		token = null;
		return had;
	}

	return Object.assign(authorize, { forget });
}

/** GitHub, "Authenticating as a GitHub App installation". */
async function installationToken(ask: AskAsApp, authorization: string) {
	const found = await ask("GET", "/repos/{owner}/{repo}/installation", { authorization });
	if (found.status !== 200) throw new Error("GitHub: the App is not installed on the repository");
	const route = `/app/installations/${Number(found.data.id)}/access_tokens`;
	const made = await ask("POST", route, { authorization });
	if (made.status !== 201) throw new Error(`GitHub answers ${made.status} to the App's request for a token`);
	return { text: String(made.data.token), until: Date.parse(String(made.data.expires_at)) };
}
