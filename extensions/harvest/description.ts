import { currentDescription, type Description } from "../../registry/description.ts";
import { harvestedLangs, type Registration } from "../../registry/registration.ts";
import { formats } from "../../registry/schemas/definitions.ts";

export function isImage(text: unknown): text is string {
	return typeof text === "string" && formats.image(text);
}

export function descriptionText({ en, fr }: Description): string {
	return `${JSON.stringify({ en, fr }, null, 2)}\n`;
}

/** One that was imported from an older service is not a harvested one. */
export function isDescribed(registration: Registration, description: Description | null): boolean {
	return harvestedLangs(registration).every((lang) => {
		const current = currentDescription(registration, description, lang);
		return current !== null && current.from !== "import";
	});
}
