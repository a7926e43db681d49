import githubAppJwt from "universal-github-app-jwt";
import { type Authorize, orNull } from "./client.ts";

/** `privateKey`: PEM, PKCS#1 or PKCS#8. */
export type Credentials = { token: string } | { appId: string; privateKey: string };

const renewBeforeMs = 120_000;

/**
 * `@octokit/auth-app` (8.3.1) would add 22 kB to the worker, and takes no PKCS#1 key there.
 * @param permissions by default all that the App was granted
 * @throws {Error} without any part of the key
 */
export function authorizeWith(
	credentials: Credentials,
	now: () => Date,
	permissions?: Readonly<Record<string, "read" | "write">>,
): Authorize {
	if ("token" in credentials) return async () => `Bearer ${credentials.token}`;
	const { appId, privateKey } = credentials;
	if (appId === "" || privateKey === "")
		throw new Error("GITHUB_REPOSITORY: needs GITHUB_TOKEN, or GITHUB_APP_ID and GITHUB_APP_PRIVATE_KEY");
	const app = { id: appId, privateKey: pkcs8Of(privateKey) };
	let token = "";
	let untilMs = 0;
	return async ({ rest, repo }, isEnded) => {
		const nowMs = now().getTime();
		if (isEnded || untilMs <= nowMs) {
			const jwt = await githubAppJwt({ ...app, now: Math.floor(nowMs / 1000) });
			const headers = { authorization: `Bearer ${jwt.token}` };
			const installation = await orNull(rest.apps.getRepoInstallation({ ...repo, headers }));
			if (!installation) throw new Error("GitHub: the App is not installed on the repository");
			const limits = { installation_id: installation.id, repositories: [repo.repo], permissions };
			const { data } = await rest.apps.createInstallationAccessToken({ ...limits, headers });
			token = data.token;
			untilMs = Date.parse(data.expires_at) - renewBeforeMs;
		}
		return `Bearer ${token}`;
	};
}

const pemPattern = /-----BEGIN ((?:RSA )?PRIVATE KEY)-----([A-Za-z0-9+/=\s]+)-----END \1-----/;

/**
 * PKCS#8, which alone crypto.subtle imports. Line breaks may be written as `\n` or `\r\n`, or all in base64.
 * @throws {Error} without any part of the key
 */
export function pkcs8Of(privateKey: string): string {
	const text = privateKey.replace(/\\[rn]/g, "\n");
	try {
		const [, label, base64 = "!"] = pemPattern.exec(text.includes("-----BEGIN ") ? text : atob(text)) ?? [];
		const der = atob(base64);
		// PrivateKeyInfo: the version 0, rsaEncryption, the key in an octet string (RFC 5208, section 5; RFC 8017, appendix C).
		const algorithm = "\x02\x01\0\x30\x0d\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x01\x01\x05\0";
		const key = label === "PRIVATE KEY" ? der : derValue("\x30", algorithm + derValue("\x04", der));
		return `-----BEGIN PRIVATE KEY-----\n${btoa(key)}\n-----END PRIVATE KEY-----`;
	} catch {
		throw new Error("GITHUB_APP_PRIVATE_KEY: must be an RSA private key in PEM");
	}
}

function derValue(tag: string, content: string): string {
	const { length } = content;
	return `${tag}\x82${String.fromCharCode(length >> 8, length & 255)}${content}`;
}
