import { html } from "lit-html";
import { textsOf } from "../../registry/problems.ts";
import { parseRegistration, type Registration } from "../../registry/registration.ts";
import type { Lang } from "../../registry/smallkey.ts";
import { parseTargets, renderLayer } from "../../registry/targets/table.ts";
import type { TargetName } from "../../registry/targets/target.ts";
import { warningsOf } from "../../registry/warnings.ts";
import { type Drawable, drawableOf, drawnTargets } from "../map/drawable.ts";
import type { Content } from "../page/dom.ts";
import { settings } from "../page/page.ts";
import { lang, t } from "../page/texts.ts";
import { type PlacedProblem, placedProblem } from "./problems.ts";

/** Judges a draft by the rules of a PUT. The warnings are those of the receipt if the draft is accepted. */
export function checkDraft(text: string) {
	const { registration, problems } = parseRegistration(new TextEncoder().encode(text), "written");
	return {
		registration,
		problems: placed(textsOf(problems)),
		warnings: placed(registration ? warningsOf(registration) : []),
	};
}

/** Separates the API's problems or warnings into place and text, in the language of the page. */
export function placed(problems: readonly string[]): PlacedProblem[] {
	return problems.map((problem) => placedProblem(problem, lang));
}

/** The list of problems with their places; each text is marked with its language. Empty if there are none. */
export function problemList(problems: readonly PlacedProblem[]): Content {
	const items = problems.map(({ pointer, text, lang }) => {
		const place = pointer && html`<code>${pointer}</code>${t(":")} `;
		return html`<li>${place}<span lang=${lang}>${text}</span></li>`;
	});
	return items.length === 0 ? "" : html`<ul>${items}</ul>`;
}

/** The fragments of a draft for each target, without a service description. */
export function draftFragments(
	registration: Registration,
	smallkey: string,
): { target: TargetName; fragments: Record<Lang, string | null> }[] {
	const targets = parseTargets(settings.targets.join(","));
	if (typeof targets === "string") return [];
	const { metadataUrl, catalogueUrl, mapWkid } = settings;
	const render = (lang: Lang) =>
		renderLayer(targets, lang, smallkey, registration, null, { metadataUrl, catalogueUrl, mapWkid });
	const [en, fr] = [render("en"), render("fr")];
	return targets.map((target, at) => ({ target, fragments: { en: en[at] ?? null, fr: fr[at] ?? null } }));
}

/** How a draft is drawn in one language; null if no fragment says it. */
export function draftDrawable(rendered: ReturnType<typeof draftFragments>, lang: Lang): Drawable | null {
	const drawn = drawnTargets(settings.targets);
	const used = rendered.filter(({ target }) => drawn.includes(target));
	return drawableOf(used.map(({ target, fragments }) => [target, fragments[lang]]));
}
