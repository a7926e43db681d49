import { html, type TemplateResult } from "lit-html";
import { parseRegistration, type Registration, warningsOf } from "../../registry/registration.ts";
import { type Lang, langs } from "../../registry/smallkey.ts";
import { layerFacts } from "../../registry/targets/facts.ts";
import { renderAt } from "../../registry/targets/table.ts";
import { type Problem, textIn } from "../../registry/texts.ts";
import { type Drawable, drawableOf, drawnTargets } from "../map/drawable.ts";
import { type Content, copyBox, lang, pageTexts, settings } from "../page/page.ts";
import { draftTexts } from "../text/drafts.ts";
import { translator } from "../text/translate.ts";

export type PlacedProblem = ReturnType<typeof placedProblem>;

/** With its JSON pointer (RFC 6901); empty for the whole document. */
function placedProblem({ place, ...text }: Problem) {
	const pointer = place.startsWith("/") ? place : "";
	return { pointer, text: textIn(lang, { ...text, place: pointer ? "" : place }) };
}

export const { t, plural } = translator(lang, { ...pageTexts, ...draftTexts[lang] });

export function draftResult(fragments: ReturnType<typeof draftFragments>): TemplateResult {
	const boxes = fragments.map(({ target, lang, text }) => {
		const shown = text === null ? t("no-form-here") : JSON.stringify(JSON.parse(text), null, 2);
		return copyBox(`${target}, ${lang}`, shown);
	});
	return html`<section class="result">
		<details><summary>${t("viewers-would-read")}</summary><div class="copies">${boxes}</div></details>
	</section>`;
}

/** Judges a draft by the rules of a PUT, except that of its smallkey. */
export function checkDraft(text: string) {
	const { registration, problems } = parseRegistration(new TextEncoder().encode(text), "written");
	return {
		registration,
		problems: problems.map(placedProblem),
		warnings: (registration ? warningsOf(registration) : []).map(placedProblem),
	};
}

export function problemList(problems: readonly PlacedProblem[]): Content {
	const items = problems.map(({ pointer, text }) => {
		return html`<li>${pointer && html`<code>${pointer}</code>${t("colon")} `}${text}</li>`;
	});
	return items.length === 0 ? "" : html`<ul>${items}</ul>`;
}

export function verdict(
	{ registration, warnings }: ReturnType<typeof checkDraft>,
	problems: readonly PlacedProblem[],
): TemplateResult {
	const isGood = registration !== null;
	return html`<div id="verdict" class=${isGood ? "verdict good" : "verdict"} role="status">
		${isGood ? html`<p>${t("registration-good")}</p>` : ""}
		${problems.length > 0 ? html`<p>${plural(problems.length, "to-correct")}</p>` : ""}
		${warnings.length > 0 ? html`<p class="note">${t("worth-knowing")}</p>` : ""}
		${problemList(isGood ? warnings : problems)}
	</div>`;
}

export function draftFragments(registration: Registration, smallkey: string) {
	const facts = langs.map((lang) => layerFacts(lang, smallkey, registration, null, settings));
	return settings.targets.flatMap((target) =>
		facts.map((layer) => ({ target, lang: layer.lang, text: renderAt(target, layer) })),
	);
}

export function draftDrawable(fragments: ReturnType<typeof draftFragments>, lang: Lang): Drawable | null {
	const drawn = drawnTargets(settings.targets);
	return drawableOf(fragments.filter((of) => of.lang === lang && drawn.includes(of.target)));
}
