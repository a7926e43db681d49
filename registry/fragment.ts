import type { Description } from "./description.ts";
import type { Registration } from "./registration.ts";
import type { Lang } from "./smallkey.ts";
import { type FragmentSettings, layerFacts } from "./targets/facts.ts";
import { v09 } from "./targets/v0.9.ts";

export type { FragmentSettings } from "./targets/facts.ts";

/**
 * A registration in one language as the viewer 4.0.x merges it into its configuration: JSON, one line, no newline
 * at the end. Each member is as the viewer's configSchema.json (tag v4.0.1) accepts it.
 * @param description counts for a language only while its `service_url` is the registered one; null: the generic form
 */
export function renderFragment(
	lang: Lang,
	smallkey: string,
	registration: Registration,
	description: Description | null,
	settings: FragmentSettings,
): string {
	return v09.render(layerFacts(lang, smallkey, registration, description, settings)) as string;
}
