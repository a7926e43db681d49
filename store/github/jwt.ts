import { base64url } from "../hashes.ts";

const encoder = new TextEncoder();

/** GitHub takes a JWT of at most ten minutes, and wants it to start a minute ago (GitHub, "Generating a JWT"). */
const jwtSeconds = 540;
const clockSkew = 60;

/** The algorithm `RSASSA-PKCS1-v1_5` with SHA-256, `RS256` in a JWT (RFC 7518, section 3.3). */
const rs256 = { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" };

/** A JWT that says "I am this App" (RFC 7519). */
export async function signJwt(appId: string, pkcs8: Uint8Array<ArrayBuffer>, now: Date): Promise<string> {
	const seconds = Math.floor(now.getTime() / 1000);
	const header = { alg: "RS256", typ: "JWT" };
	const claims = { iat: seconds - clockSkew, exp: seconds + jwtSeconds - clockSkew, iss: appId };
	const signed = [header, claims].map((part) => base64url(encoder.encode(JSON.stringify(part)))).join(".");
	const key = await crypto.subtle.importKey("pkcs8", pkcs8, rs256, false, ["sign"]);
	const signature = await crypto.subtle.sign(rs256.name, key, encoder.encode(signed));
	return `${signed}.${base64url(new Uint8Array(signature))}`;
}

/** A PEM text of one private key (RFC 7468): its label and its base64. */
const pem = /-----BEGIN ((?:RSA )?PRIVATE KEY)-----([A-Za-z0-9+/=\s]+)-----END \1-----/;

/**
 * The private key of a PEM text as PKCS#8 in DER. GitHub hands out PKCS#1 (`RSA PRIVATE KEY`), which crypto.subtle
 * does not import. `\n` may stand for a line break, as in many environment variables.
 * @throws {Error} that holds nothing of the key
 */
export function pkcs8Of(privateKey: string): Uint8Array<ArrayBuffer> {
	const [, label, base64] = pem.exec(privateKey.replaceAll("\\n", "\n")) ?? [];
	try {
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
	return derValue(0x30, [2, 1, 0, ...rsaEncryption, ...derValue(4, key)]);
}

/** A tag, the length of its content, and the content (X.690, section 8.1). */
function derValue(tag: number, content: ArrayLike<number>): Uint8Array<ArrayBuffer> {
	const { length } = content;
	const size = length < 128 ? [length] : [0x82, length >> 8, length & 255];
	return Uint8Array.from([tag, ...size, ...Array.from(content)]);
}
