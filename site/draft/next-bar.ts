import { html, type TemplateResult } from "lit-html";
import { plural, t } from "../page/texts.ts";
import type { checkDraft } from "./check.ts";
import type { RegisterPanel } from "./register-panel.ts";

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
		...(isValid ? [] : [t("the address of a layer")]),
		...(smallkey === null ? [t("a key")] : []),
		...(isValid && smallkey !== null ? register.missing() : []),
	];
	const wrong = plural(problems.length, "{0} thing to correct.", "{0} things to correct.");
	const state = isValid ? t("Valid.") : shown > 0 ? wrong : t("Not complete yet.");
	const next = !isValid ? "source" : smallkey === null ? "key" : register.nextId();
	const step = next === "source" ? t("the address") : next === "key" ? t("the key") : t("send");
	const go = () => document.getElementById(next)?.focus();
	return html`<div class="nextbar"><p role="status"><strong class=${isValid ? "good" : ""}>${state}</strong>
		${missing.length > 0 ? html`${t("Missing:")} ${missing.join(", ")}.` : ""}</p>
		<button type="button" @click=${go}>${t("Next: {0}", step)}</button></div>`;
}
