/** Longest image of a service description, in characters. This also bounds the time that the pattern takes. */
const maxImageLength = 100_000;

/** A data URI (RFC 2397) of a known image type, in base64 (RFC 4648, section 4). Code checks the length of the base64. */
const imagePattern = /^data:image\/(?:png|jpeg|gif|bmp|svg\+xml);base64,([A-Za-z0-9+/]+={0,2})$/;

/** Formats of the schemas that JSON Schema does not have. One pattern for the whole rule would take three times as long. */
export const formats = {
	image(text: string): boolean {
		if (text.length > maxImageLength) return false;
		const data = imagePattern.exec(text)?.[1];
		return data !== undefined && data.length % 4 === 0;
	},
};
