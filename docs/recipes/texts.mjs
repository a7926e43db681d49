const entities = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: " " };
const maxLength = 1024;

/** A text without HTML's entities and tags, control characters and needless spaces; "" if nothing of it is visible. */
export function plainText(text) {
	const decoded = String(text ?? "").replace(
		/&(?:#(\d{1,6})|#x([\da-f]{1,5})|([a-z]+));/gi,
		(whole, decimal, hex, name) => {
			if (name) return entities[name.toLowerCase()] ?? whole;
			return String.fromCodePoint(decimal ? Number(decimal) : Number.parseInt(hex, 16));
		},
	);
	const plain = decoded
		.replace(/<[a-z/!][^>]*>?/gi, "")
		.replace(/[\s\p{Cc}]+/gu, " ")
		.trim();
	return /[\p{L}\p{N}\p{P}\p{S}]/u.test(plain) ? plain.slice(0, maxLength).toWellFormed() : "";
}

/** The texts of a value that is an object of languages, its JSON, or one text. */
export function textsOf(value) {
	if (typeof value !== "string") return value ?? {};
	const parsed = tryJson(value);
	return typeof parsed === "object" && parsed ? parsed : { default: value };
}

export function tryJson(text) {
	try {
		return JSON.parse(text);
	} catch {
		return null;
	}
}

/** The languages of a value: codes, names, EU addresses (`…/language/FRA`), one text or a list. Empty: both, or others. */
export function langsOf(value) {
	const text = [value ?? []]
		.flat()
		.join(" ")
		.replace(/[^\s"',;|]*[/#]/g, "");
	const langs = new Set();
	if (/(?<!\p{L})(?:en|eng|english|anglais)(?!\p{L})/iu.test(text)) langs.add("en");
	if (/(?<!\p{L})(?:fr|fra|fre|french|français|francais)(?!\p{L})/iu.test(text)) langs.add("fr");
	return langs;
}
