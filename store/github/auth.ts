import { base64url } from "../hashes.ts";
import { dataOf, dataOrNull, type Github } from "./answer.ts";

/** A token, or a GitHub App with its private key in PEM: PKCS#1, as GitHub issues it, or PKCS#8. */
export type Credentials = { token: string } | { appId: string; privateKey: string };

/** The permissions of an installation's token, by GitHub's names; absent: all that the App was granted. */
type Permissions = Readonly<Record<string, "read" | "write">>;

export interface Authorization {
	/** The `Authorization` header of the next request. */
	header(github: Github): Promise<string>;
	/** Drops a token that GitHub no longer accepts; false if there is no way to get another one. */
	forget(): boolean;
}

/** An installation's token is renewed this long before it expires. */
const renewBeforeMs = 120_000;

/**
 * Authorization by a fixed token, or as the installation of an App on the repository. The installation is looked up. Its
 * tokens give access to this repository only, with `permissions` only.
 * @throws {Error} if the private key is not PEM; no error contains any part of the key
 */
export function authorizeWith(
	credentials: Credentials,
	now: () => Date,
	permissions?: Permissions,
): Authorization {
	if ("token" in credentials)
		return { header: async () => `Bearer ${credentials.token}`, forget: () => false };
	const { appId, privateKey } = credentials;
	const key = pkcs8Of(privateKey);
	let token: { text: string; until: number } | null = null;
	return {
		async header(github) {
			if (!token || token.until - renewBeforeMs < now().getTime()) {
				const authorization = `Bearer ${await signJwt(appId, key, now())}`;
				token = await installationToken(github, { authorization }, permissions);
			}
			return `Bearer ${token.text}`;
		},
		forget() {
			const had = token !== null;
			token = null;
			return had;
		},
	};
}

/** Gets an installation's token (GitHub, "Authenticating as a GitHub App installation"). */
async function installationToken(
	{ rest, repo }: Github,
	headers: { authorization: string },
	permissions: Permissions | undefined,
) {
	const asked = rest.apps.getRepoInstallation({ ...repo, headers });
	const found = await dataOrNull(asked, "find the App's installation");
	if (!found) throw new Error("GitHub: the App is not installed on the repository");
	const limits = { installation_id: found.id, repositories: [repo.repo], permissions };
	const request = rest.apps.createInstallationAccessToken({ ...limits, headers });
	const { token, expires_at } = await dataOf(request, "give the App a token");
	return { text: token, until: Date.parse(expires_at) };
}

const encoder = new TextEncoder();

/** A JWT may be valid for at most ten minutes, and should start a minute in the past (GitHub, "Generating a JWT"). */
const jwtSeconds = 540;
const jwtSkewSeconds = 60;

/** The algorithm `RSASSA-PKCS1-v1_5` with SHA-256, `RS256` in a JWT (RFC 7518, section 3.3). */
const rs256 = { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" };

/** Signs a JWT that identifies the App (RFC 7519). */
async function signJwt(appId: string, pkcs8: Uint8Array<ArrayBuffer>, now: Date): Promise<string> {
	const seconds = Math.floor(now.getTime() / 1000);
	const header = { alg: "RS256", typ: "JWT" };
	const claims = { iat: seconds - jwtSkewSeconds, exp: seconds + jwtSeconds - jwtSkewSeconds, iss: appId };
	const signed = [header, claims].map((part) => base64url(encoder.encode(JSON.stringify(part)))).join(".");
	const key = await crypto.subtle.importKey("pkcs8", pkcs8, rs256, false, ["sign"]);
	const signature = await crypto.subtle.sign(rs256.name, key, encoder.encode(signed));
	return `${signed}.${base64url(new Uint8Array(signature))}`;
}

/** A PEM text of one private key (RFC 7468): its label and its base64. */
const pemPattern = /-----BEGIN ((?:RSA )?PRIVATE KEY)-----([A-Za-z0-9+/=\s]+)-----END \1-----/;

/**
 * The private key of a PEM text as PKCS#8 in DER. GitHub issues PKCS#1 (`RSA PRIVATE KEY`), which crypto.subtle does
 * not import. Line breaks may be written as `\n` or `\r\n`, as in many environment variables, or all of it in base64.
 * @throws {Error} that contains no part of the key
 */
export function pkcs8Of(privateKey: string): Uint8Array<ArrayBuffer> {
	const text = privateKey.replace(/\\[rn]/g, "\n");
	try {
		const pem = text.includes("-----BEGIN ") ? text : atob(text);
		const [, label, base64] = pemPattern.exec(pem) ?? [];
		const der = Uint8Array.from(atob(base64 ?? "!"), (character) => character.charCodeAt(0));
		return label === "PRIVATE KEY" ? der : wrapPkcs1(der);
	} catch {
		throw new Error("GITHUB_APP_PRIVATE_KEY: must be an RSA private key in PEM");
	}
}

/** AlgorithmIdentifier of RSA in DER: the object identifier rsaEncryption, and NULL (RFC 8017, appendix C). */
const rsaEncryption = [0x30, 0x0d, 6, 9, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1, 1, 5, 0];

/** PrivateKeyInfo in DER: the version 0, the algorithm, the key in an octet string (RFC 5208, section 5). */
function wrapPkcs1(key: Uint8Array): Uint8Array<ArrayBuffer> {
	return Uint8Array.from(derValue(0x30, [2, 1, 0, ...rsaEncryption, ...derValue(4, [...key])]));
}

/** A tag, the length of its content, and the content (X.690, section 8.1). */
function derValue(tag: number, content: number[]): number[] {
	const { length } = content;
	return [tag, ...(length < 128 ? [length] : [0x82, length >> 8, length & 255]), ...content];
}
