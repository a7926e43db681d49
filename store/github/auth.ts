import { pkcs8Of, signJwt } from "./jwt.ts";
import { dataOf, dataOrNull } from "./refusal.ts";
import type { Github } from "./routes.ts";

/** A token, or a GitHub App with its private key in PEM: PKCS#1, as GitHub gives it, or PKCS#8. */
export type Credentials = { token: string } | { appId: string; privateKey: string };

/** What an installation's token may do, by GitHub's names; absent: all that the App was granted. */
export type Permissions = Readonly<Record<string, "read" | "write">>;

/** Gives the `Authorization` header of the next request. */
export interface Authorize {
	(github: Github): Promise<string>;
	/** Drops a token that GitHub does not accept any more; false where none can be had in its place. */
	forget(): boolean;
}

/** An installation's token is renewed this long before it ends. */
const renewBeforeMs = 120_000;

/**
 * Authorization by a fixed token, or as the installation of an App on the repository, which is found by itself. Its
 * tokens open that one repository, and no more of it than is asked for.
 * @throws {Error} where the private key is not PEM; no error holds any of it
 */
export function authorizeWith(
	credentials: Credentials,
	now: () => Date,
	permissions?: Permissions,
): Authorize {
	if ("token" in credentials) {
		const header = `Bearer ${credentials.token}`;
		return Object.assign(async () => header, { forget: () => false });
	}
	const { appId, privateKey } = credentials;
	const key = pkcs8Of(privateKey);
	let token: { text: string; until: number } | null = null;

	async function authorize(github: Github): Promise<string> {
		if (!token || token.until - renewBeforeMs < now().getTime()) {
			const jwt = await signJwt(appId, key, now());
			token = await installationToken(github, { authorization: `Bearer ${jwt}` }, permissions);
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
async function installationToken(
	{ rest, repo }: Github,
	headers: { authorization: string },
	permissions: Permissions | undefined,
) {
	const asked = rest.apps.getRepoInstallation({ ...repo, headers });
	const found = await dataOrNull(asked, "find the App's installation");
	if (!found) throw new Error("GitHub: the App is not installed on the repository");
	const token = await dataOf(
		rest.apps.createInstallationAccessToken({
			installation_id: found.id,
			repositories: [repo.repo],
			permissions,
			headers,
		}),
		"give the App a token",
	);
	return { text: token.token, until: Date.parse(token.expires_at) };
}
