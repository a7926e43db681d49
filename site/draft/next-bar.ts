import { html, type TemplateResult } from "lit-html";
import type { checkDraft } from "./check.ts";
import type { RegisterPanel } from "./register-panel.ts";
import { plural, t } from "./texts.ts";

/**
 * The bar that stays in view: whether the draft is valid, what is missing, and the next step.
 * @param shown number of the problems that are shown
 */
export function nextBar(
	{ registration, problems }: ReturnType<typeof checkDraft>,
	shown: number,
	smallkey: string | null,
	register: RegisterPanel,
): TemplateResult {
	const isValid = registration !== null;
	const missing = [
		...(isValid ? [] : [t("missing-address")]),
		...(smallkey === null ? [t("missing-key")] : []),
		...(isValid && smallkey !== null ? register.missing() : []),
	];
	const wrong = plural(problems.length, "problems");
	const state = isValid ? t("valid") : shown > 0 ? wrong : t("incomplete");
	const next = !isValid ? "source" : smallkey === null ? "key" : register.nextId();
	const step = t(next === "source" || next === "key" ? `next-${next}` : "next-send");
	const go = () => document.getElementById(next)?.focus();
	return html`<div class="nextbar"><p role="status"><strong class=${isValid ? "good" : ""}>${state}</strong>
		${missing.length > 0 ? html`${t("missing")} ${missing.join(", ")}.` : ""}</p>
		<button type="button" @click=${go}>${t("next", step)}</button></div>`;
}
