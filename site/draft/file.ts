import { html, type TemplateResult } from "lit-html";
import { maxRegistrationBytes } from "../../registry/registration.ts";
import { t } from "../page/texts.ts";

/** A file that the user chose, dropped or pasted. */
export interface DraftFile {
	/** Its name without `.json` or `.service.json`; empty if it has another extension. */
	name: string;
	text: string;
}

/** A control for choosing a file. @param onFile is called with the file */
export function fileInput(onFile: (file: File) => void): TemplateResult {
	const change = ({ currentTarget }: Event) => {
		const input = currentTarget as HTMLInputElement;
		const [file] = input.files ?? [];
		if (file) onFile(file);
		input.value = "";
	};
	return html`<p class="hint">${t("Drop a JSON file here, or")} <label class="filelabel"><input type="file"
		accept=".json,application/json" class="hiddenfile" @change=${change}><span>${t("choose one")}</span></label>.</p>`;
}

/** The file of a paste or drop event; undefined if it has none. */
export function fileOf(event: Event): File | undefined {
	const transfer = event instanceof DragEvent ? event.dataTransfer : (event as ClipboardEvent).clipboardData;
	return transfer?.files[0];
}

/** Reads a file; returns an error text if it is too large or cannot be read. */
export async function readDraftFile(file: File): Promise<DraftFile | string> {
	if (file.size > maxRegistrationBytes)
		return t("The file is larger than {0} bytes, which no registration may be.", maxRegistrationBytes);
	const text = await file.text().catch(() => null);
	const [, name = ""] = /^(.+?)(?:\.service)?\.json$/.exec(file.name) ?? [];
	return text === null ? t("The file could not be read.") : { name, text };
}
