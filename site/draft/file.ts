import { largestRegistration } from "../../registry/registration.ts";
import { h } from "../page/dom.ts";
import type { Page } from "../page/page.ts";

/** A file that the user chose or dropped. */
export interface TakenFile {
	/** Its name without `.json` and `.service.json`; empty where it has another ending. */
	name: string;
	text: string;
}

/** Receives a file, or the reason why it is not taken. */
export interface FileTaken {
	take(file: TakenFile): void;
	warn(text: string): void;
}

/** A line with which a file is chosen. */
export function fileInput(page: Page, taken: FileTaken): HTMLElement {
	const { texts } = page;
	const input = h("input", { type: "file", accept: ".json,application/json", class: "hiddenfile" });
	input.addEventListener("change", () => {
		const [file] = input.files ?? [];
		if (file) void take(page, file, taken);
		input.value = "";
	});
	return h(
		"p",
		{ class: "hint" },
		`${texts.draftDrop} `,
		h("label", { class: "filelabel" }, input, h("span", {}, texts.draftChoose)),
		".",
	);
}

/** Takes a file that is dropped on an element or pasted into it. @param shown marked while one is held over it */
export function acceptDrops(page: Page, element: HTMLElement, shown: HTMLElement, taken: FileTaken): void {
	const over = (is: boolean) => shown.classList.toggle("over", is);
	element.addEventListener("dragover", (event) => {
		event.preventDefault();
		over(true);
	});
	element.addEventListener("dragleave", () => over(false));
	element.addEventListener("paste", (event) => {
		const [file] = event.clipboardData?.files ?? [];
		if (!file) return;
		event.preventDefault();
		void take(page, file, taken);
	});
	element.addEventListener("drop", (event) => {
		event.preventDefault();
		over(false);
		const [file] = event.dataTransfer?.files ?? [];
		if (file) void take(page, file, taken);
	});
}

async function take({ texts, lang }: Page, file: File, taken: FileTaken): Promise<void> {
	if (file.size > largestRegistration)
		return taken.warn(texts.draftLarge(largestRegistration.toLocaleString(`${lang}-CA`)));
	const text = await file.text().catch(() => null);
	if (text === null) return taken.warn(texts.draftFileFailed);
	taken.take({ name: /^(.+?)(?:\.service)?\.json$/.exec(file.name)?.[1] ?? "", text });
}
