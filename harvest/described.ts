import type { LangDescription } from "../registry/description.ts";
import type { Fault } from "./finding.ts";

/** Why a service cannot be described, or not wholly. */
export interface Trouble {
	kind: Fault;
	/** One line, about the service. */
	text: string;
}

/** What a service says of one language of a layer, or why that is not known. */
export type Described =
	| {
			description: LangDescription;
			/** What could not be asked for now, so that an earlier, fuller description is better; null: all is there. */
			missing: Trouble | null;
	  }
	| { description: null; trouble: Trouble };

/** Nothing is known. */
export function undescribed(kind: Fault, text: string): Described {
	return { description: null, trouble: { kind, text } };
}

/** Most layers of a service that is taken whole: each one is an entry in every fragment. */
export const maxEntries = 1000;
