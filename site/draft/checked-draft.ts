import { html } from "lit-html";
import { keyed } from "lit-html/directives/keyed.js";
import { parseRegistration, type Registration, warningsOf } from "../../registry/registration.ts";
import { judgeKey, type Lang, langs, parseSmallkey } from "../../registry/smallkey.ts";
import { layerFacts } from "../../registry/targets/facts.ts";
import { renderAt } from "../../registry/targets/table.ts";
import { type Problem, problemAt, texts as problemTexts, textIn } from "../../registry/texts.ts";
import { type Drawable, drawableOf, drawnTargets } from "../map/drawable.ts";
import { type Content, copyButton } from "../page/elements.ts";
import { lang, pageTexts, settings } from "../page/page.ts";
import { catalogue } from "../search/loaded-catalogue.ts";
import { draftTexts } from "../text/drafts.ts";
import { translator } from "../text/translate.ts";

export const { t, plural } = translator(lang, { ...pageTexts, ...draftTexts[lang] });

/** `pointer`: RFC 6901. */
export interface DraftProblem {
	pointer: string;
	text: string;
}

function draftProblem({ place, ...text }: Problem): DraftProblem {
	const pointer = place.startsWith("/") ? place : "";
	return { pointer, text: textIn(lang, { ...text, place: pointer ? "" : place }) };
}

type CheckedDraft = ReturnType<typeof checkDraft>;

/** The rules are those of a PUT. */
export function checkDraft(text: string) {
	const { registration, problems } = parseRegistration(new TextEncoder().encode(text), "written");
	return {
		registration,
		problems: problems.map(draftProblem),
		warnings: (registration ? warningsOf(registration) : []).map(draftProblem),
	};
}

/** Leaves out the wrong value at its end. */
const keyRule = problemTexts[lang].smallkey.replace(/,[^,]*$/, "");

/** Without the index, no smallkey is judged as new. */
export async function checkKey(text: string): Promise<{ isRefused: boolean; note: string }> {
	const smallkey = parseSmallkey(text);
	if (smallkey === null) return { isRefused: text !== "", note: keyRule };
	const entry = await catalogue.findAnyCase(smallkey).catch(() => undefined);
	const stored = entry?.smallkey;
	const isNew = entry !== undefined && stored !== smallkey;
	const rule = judgeKey(smallkey, stored ?? smallkey, isNew);
	if (rule) return { isRefused: true, note: textIn(lang, problemAt("", ...rule)) };
	if (entry === undefined) return { isRefused: false, note: "" };
	return { isRefused: false, note: t(entry ? "key-taken" : "key-free") };
}

export function renderProblems(problems: readonly DraftProblem[]): Content {
	const items = problems.map(({ pointer, text }) => {
		return html`<li>${pointer && html`<code>${pointer}</code>${t("colon")} `}${text}</li>`;
	});
	return items.length === 0 ? "" : html`<ul>${items}</ul>`;
}

export function renderVerdict({ registration, warnings }: CheckedDraft, problems: readonly DraftProblem[]) {
	const isGood = registration !== null;
	return html`<div id="verdict" class=${isGood ? "verdict good" : "verdict"} role="status">
		${isGood ? html`<p>${t("registration-good")}</p>` : ""}
		${problems.length > 0 ? html`<p>${plural(problems.length, "to-correct")}</p>` : ""}
		${warnings.length > 0 ? html`<p class="note">${t("worth-knowing")}</p>` : ""}
		${renderProblems(isGood ? warnings : problems)}
	</div>`;
}

export type DraftFragments = ReturnType<typeof draftFragments>;

/** A text is null if the target cannot express the layer. */
export function draftFragments(registration: Registration, smallkey: string) {
	const facts = langs.map((lang) => layerFacts(lang, smallkey, registration, null, settings));
	return settings.targets.flatMap((target) =>
		facts.map((layer) => ({ target, lang: layer.lang, text: renderAt(target, layer) })),
	);
}

export function draftDrawable(fragments: DraftFragments, lang: Lang): Drawable | null {
	const drawn = drawnTargets(settings.targets);
	const inLang = fragments.filter((fragment) => fragment.lang === lang && drawn.includes(fragment.target));
	return drawableOf(inLang.map(({ text }) => text));
}

export function renderFragments(fragments: DraftFragments) {
	const boxes = fragments.map(({ target, lang, text }) => {
		const name = `${target}, ${lang}`;
		const shown = text === null ? t("no-form-here") : JSON.stringify(JSON.parse(text), null, 2);
		// A changed text gets a new button, so that "Copied" is not shown for it.
		return html`<div><strong>${name}</strong> ${keyed(
			shown,
			copyButton(t("copy"), () => shown, name),
		)}
			<pre tabindex="0" role="region" aria-label=${name}><code>${shown}</code></pre></div>`;
	});
	return html`<section class="result">
		<details><summary>${t("viewers-would-read")}</summary><div class="copies">${boxes}</div></details>
	</section>`;
}
