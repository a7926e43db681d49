import { html, type TemplateResult } from "lit-html";
import { parseRegistration, warningsOf } from "../../registry/registration.ts";
import { judgeKey, parseSmallkey } from "../../registry/smallkey.ts";
import { type Problem, problemAt, texts as problemTexts, textIn } from "../../registry/texts.ts";
import type { Content } from "../page/elements.ts";
import { lang } from "../page/page.ts";
import { catalogue } from "../search/loaded-catalogue.ts";
import { plural, t } from "./texts.ts";

/** With its JSON pointer (RFC 6901); empty for the whole document. */
export interface DraftProblem {
	pointer: string;
	text: string;
}

function draftProblem({ place, ...text }: Problem): DraftProblem {
	const pointer = place.startsWith("/") ? place : "";
	return { pointer, text: textIn(lang, { ...text, place: pointer ? "" : place }) };
}

export type CheckedDraft = ReturnType<typeof checkDraft>;

/** Judges the text of a draft by the rules of a PUT. */
export function checkDraft(text: string) {
	const { registration, problems } = parseRegistration(new TextEncoder().encode(text), "written");
	return {
		registration,
		problems: problems.map(draftProblem),
		warnings: (registration ? warningsOf(registration) : []).map(draftProblem),
	};
}

/** Without the wrong value at its end. */
const keyRule = problemTexts[lang].smallkey.replace(/,[^,]*$/, "");

/** Judges the smallkey of a draft by the rules of a PUT; without the index, no smallkey counts as new. */
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

/** @param problems those of the draft that are shown */
export function renderVerdict(
	{ registration, warnings }: CheckedDraft,
	problems: readonly DraftProblem[],
): TemplateResult {
	const isGood = registration !== null;
	return html`<div id="verdict" class=${isGood ? "verdict good" : "verdict"} role="status">
		${isGood ? html`<p>${t("registration-good")}</p>` : ""}
		${problems.length > 0 ? html`<p>${plural(problems.length, "to-correct")}</p>` : ""}
		${warnings.length > 0 ? html`<p class="note">${t("worth-knowing")}</p>` : ""}
		${renderProblems(isGood ? warnings : problems)}
	</div>`;
}
