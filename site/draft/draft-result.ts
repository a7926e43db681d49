import { html, type TemplateResult } from "lit-html";
import { copyBox, copyButton } from "../page/dom.ts";
import { bothLanguages, type Drawables } from "../page/drawables.ts";
import type { draftFragments } from "./check.ts";
import { t } from "./texts.ts";

/**
 * What viewers make of a valid draft: the table of both languages, and the fragments.
 * @param isOpen whether the list of fragments is open; without, it has no content and no tab stops
 */
export function draftResult(
	fragments: ReturnType<typeof draftFragments>,
	drawables: Drawables,
	isOpen: boolean,
	toggle: (isOpen: boolean) => void,
): TemplateResult {
	const isFeature = drawables.en?.kind === "features" || drawables.en?.kind === "dynamic";
	const boxes = fragments.map(({ target, lang, text }) => {
		const shown = text === null ? null : JSON.stringify(JSON.parse(text), null, 2);
		return copyBox(`${target}, ${lang}`, shown ?? t("no-form-here"));
	});
	const toggled = ({ currentTarget }: Event) => toggle((currentTarget as HTMLDetailsElement).open);
	return html`<section class="result"><h2>${t("both-languages")}</h2>${bothLanguages(drawables)}
		${isFeature ? html`<p class="hint">${t("symbols-later")}</p>` : ""}
		<p>${copyButton(t("copy-draft-address"), () => location.href)}</p>
		<details ?open=${isOpen} @toggle=${toggled}>
			<summary>${t("viewers-would-read")}</summary>
			<div class="copies">${isOpen ? boxes : ""}</div>
		</details></section>`;
}
