/** What a signature is written like. */
const rule = "must be 43 characters of URL-safe base64 without padding";

/**
 * What is wrong with the shape of a text that is no signature, whoever sends it: nothing of a secret is in that.
 * @returns null where the shape is right
 */
export function shapeHint(text: string): string | null {
	const odd = oddness(text);
	return odd === null ? null : `Authorization: ${rule}, and this one ${odd}`;
}

/** The commonest mistakes of clients, first those whose other signs would mislead. */
function oddness(text: string): string | null {
	if (/^[A-Za-z0-9_-]{43}$/.test(text)) return null;
	const scheme = /^([A-Za-z][A-Za-z0-9-]{0,15})[ =]/.exec(text)?.[1];
	if (scheme !== undefined) return `starts with ${scheme}: there is no word before the signature`;
	if (/^[0-9A-Fa-f]{64}$/.test(text)) return "is hexadecimal";
	if (/^[A-Za-z0-9_+/-]{43}=$/.test(text)) return "has 44 and ends with =";
	if (/^[A-Za-z0-9+/]{43}$/.test(text)) return "has + or /, which are - and _ there";
	return text.length === 43 ? "has other characters" : `has ${text.length}`;
}
