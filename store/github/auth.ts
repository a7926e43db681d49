import githubAppJwt from "universal-github-app-jwt";
import { type Authorization, orNull } from "./client.ts";

/** A token, or a GitHub App with its private key in PEM: PKCS#1, as GitHub issues it, or PKCS#8. */
export type Credentials = { token: string } | { appId: string; privateKey: string };

/** An installation's token is renewed this long before it expires. */
const renewBeforeMs = 120_000;

/**
 * Authorization by a fixed token, or as the installation of an App on the repository (GitHub, "Authenticating as a GitHub
 * App installation"). `@octokit/auth-app` (8.3.1) signs by the same package; it would add 22 kB to the worker, and take no
 * key there in the form in which GitHub issues it.
 * @param permissions of the installation's token, by GitHub's names; absent: all that the App was granted
 * @throws {Error} if the private key is not PEM; no error contains any part of the key
 */
export function authorizeWith(
	credentials: Credentials,
	now: () => Date,
	permissions?: Readonly<Record<string, "read" | "write">>,
): Authorization {
	if ("token" in credentials)
		return { header: async () => `Bearer ${credentials.token}`, forget: () => false };
	const app = { id: credentials.appId, privateKey: pkcs8Of(credentials.privateKey) };
	let token: { text: string; until: number } | null = null;
	return {
		async header({ rest, repo }) {
			if (token && token.until > now().getTime()) return `Bearer ${token.text}`;
			const jwt = await githubAppJwt({ ...app, now: Math.floor(now().getTime() / 1000) });
			const headers = { authorization: `Bearer ${jwt.token}` };
			const installation = await orNull(rest.apps.getRepoInstallation({ ...repo, headers }));
			if (!installation) throw new Error("GitHub: the App is not installed on the repository");
			const limits = { installation_id: installation.id, repositories: [repo.repo], permissions };
			const { data } = await rest.apps.createInstallationAccessToken({ ...limits, headers });
			token = { text: data.token, until: Date.parse(data.expires_at) - renewBeforeMs };
			return `Bearer ${token.text}`;
		},
		forget() {
			const had = token !== null;
			token = null;
			return had;
		},
	};
}

/** A PEM text of one private key (RFC 7468): its label and its base64. */
const pemPattern = /-----BEGIN ((?:RSA )?PRIVATE KEY)-----([A-Za-z0-9+/=\s]+)-----END \1-----/;

/**
 * The private key of a PEM text as PKCS#8, which alone crypto.subtle imports. Line breaks may be written as `\n` or `\r\n`,
 * as in many environment variables, or all of it in base64.
 * @throws {Error} that contains no part of the key
 */
export function pkcs8Of(privateKey: string): string {
	const text = privateKey.replace(/\\[rn]/g, "\n");
	try {
		const pem = text.includes("-----BEGIN ") ? text : atob(text);
		const [, label, base64] = pemPattern.exec(pem) ?? [];
		const der = atob(base64 ?? "!");
		// PrivateKeyInfo: the version 0, rsaEncryption, the key in an octet string (RFC 5208, section 5; RFC 8017, appendix C).
		const algorithm = "\x02\x01\0\x30\x0d\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x01\x01\x05\0";
		const key = label === "PRIVATE KEY" ? der : derValue("\x30", algorithm + derValue("\x04", der));
		return `-----BEGIN PRIVATE KEY-----\n${btoa(key)}\n-----END PRIVATE KEY-----`;
	} catch {
		throw new Error("GITHUB_APP_PRIVATE_KEY: must be an RSA private key in PEM");
	}
}

/** A tag, the length of its content in two bytes, and the content (X.690, section 8.1). Each character is a byte. */
function derValue(tag: string, content: string): string {
	const { length } = content;
	return `${tag}\x82${String.fromCharCode(length >> 8, length & 255)}${content}`;
}
