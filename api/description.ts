import type { Lang } from "./smallkey.ts";

/** What was harvested from the service behind one language of a feature layer. */
export interface LangDescription {
	/** The address that it came from: it counts only while that is the registered one. */
	service_url: string;
}

/** A service description: the content of `layers/<ab>/<smallkey>.service.json`. */
export type Description = Partial<Record<Lang, LangDescription>>;

/** Reads a service description; null where the text is none. */
export function parseDescription(text: string): Description | null {
	try {
		const value: unknown = JSON.parse(text);
		return typeof value === "object" && value !== null && !Array.isArray(value)
			? (value as Description)
			: null;
	} catch {
		return null;
	}
}
