import { html, type TemplateResult } from "lit-html";
import { t } from "./texts.ts";

/** The ways to begin with a whole registration: a file, or an example. */
export function fileChoice(open: (file: File) => void, loadExample: () => void): TemplateResult {
	const pick = ({ currentTarget }: Event) => {
		const input = currentTarget as HTMLInputElement;
		const [file] = input.files ?? [];
		if (file) open(file);
		input.value = "";
	};
	return html`${t("drop-file")} <label class="filelabel"><input type="file"
		accept=".json,application/json" class="hiddenfile" @change=${pick}><span>${t("choose-file")}</span></label>.
		<button type="button" class="small" @click=${loadExample}>${t("load-example")}</button>`;
}
