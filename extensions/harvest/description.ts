import { currentDescription, type Description, type LangDescription } from "../../registry/description.ts";
import { harvestedLangs, type Registration } from "../../registry/registration.ts";
import { formats } from "../../registry/schemas/definitions.ts";
import type { Trouble } from "./ask.ts";

export interface DescriptionResult {
	description: LangDescription;
	/** Why an earlier, complete description is better; null if everything was read. */
	missing: Trouble | null;
}

export function isImage(text: unknown): text is string {
	return typeof text === "string" && formats.image(text);
}

export function descriptionText({ en, fr }: Description): string {
	return `${JSON.stringify({ en, fr }, null, 2)}\n`;
}

/** Whether all languages were harvested, and not imported from an older service. */
export function isDescribed(registration: Registration, description: Description | null): boolean {
	return harvestedLangs(registration).every((lang) => {
		const current = currentDescription(registration, description, lang);
		return current !== null && current.from !== "import";
	});
}
