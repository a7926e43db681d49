import { html, type TemplateResult } from "lit-html";
import { largestRegistration } from "../../registry/registration.ts";
import { lang, texts } from "../page/page.ts";

/** A file that the user chose or dropped. */
export interface TakenFile {
	/** Its name without `.json` and `.service.json`; empty where it has another ending. */
	name: string;
	text: string;
}

/** A line with which a file is chosen. @param taken is called with it */
export function fileInput(taken: (file: File) => void): TemplateResult {
	const change = ({ currentTarget }: Event) => {
		const input = currentTarget as HTMLInputElement;
		const [file] = input.files ?? [];
		if (file) taken(file);
		input.value = "";
	};
	return html`<p class="hint">${texts.draftDrop} <label class="filelabel"><input type="file"
		accept=".json,application/json" class="hiddenfile" @change=${change}><span>${texts.draftChoose}</span></label>.</p>`;
}

/** The file that is pasted or dropped; undefined where it is something else. */
export function fileOf(event: Event): File | undefined {
	const held = event instanceof DragEvent ? event.dataTransfer : (event as ClipboardEvent).clipboardData;
	return held?.files[0];
}

/** Reads a file; a text says why it is not taken. */
export async function readTaken(file: File): Promise<TakenFile | string> {
	if (file.size > largestRegistration)
		return texts.draftLarge(largestRegistration.toLocaleString(`${lang}-CA`));
	const text = await file.text().catch(() => null);
	const [, name = ""] = /^(.+?)(?:\.service)?\.json$/.exec(file.name) ?? [];
	return text === null ? texts.draftFileFailed : { name, text };
}
