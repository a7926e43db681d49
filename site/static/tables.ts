const collator = new Intl.Collator(document.documentElement.lang, { numeric: true });

for (const table of document.querySelectorAll<HTMLTableElement>("table.sortable")) makeSortable(table);
for (const form of document.querySelectorAll<HTMLFormElement>("form.narrow")) makeNarrow(form);

function makeSortable(table: HTMLTableElement): void {
	const [body] = table.tBodies;
	const heads = [...table.querySelectorAll<HTMLTableCellElement>("thead th")];
	for (const [column, head] of heads.entries()) {
		const button = document.createElement("button");
		button.append(...head.childNodes);
		button.addEventListener("click", () => {
			const isDown = head.ariaSort === "ascending";
			for (const other of heads) other.ariaSort = null;
			head.ariaSort = isDown ? "descending" : "ascending";
			const textOf = (row: HTMLTableRowElement) => row.cells[column]?.innerText.trim() ?? "";
			const rows = [...(body?.rows ?? [])].map((row) => ({ row, text: textOf(row) }));
			rows.sort((a, b) => collator.compare(a.text, b.text) * (isDown ? -1 : 1));
			body?.append(...rows.map(({ row }) => row));
		});
		head.append(button);
	}
}

function makeNarrow(form: HTMLFormElement): void {
	const selects = [...form.querySelectorAll("select")];
	const status = form.querySelector<HTMLElement>("[role=status]");
	const rows = [...document.querySelectorAll<HTMLElement>("[data-row]")];
	const valuesOf = (row: HTMLElement, name: string) => (row.dataset[name] ?? "").split("\n");
	const chosen = new URLSearchParams(location.search);
	for (const select of selects) {
		const values = new Set(rows.flatMap((row) => valuesOf(row, select.name)).filter(Boolean));
		select.append(...[...values].sort(collator.compare).map((value) => new Option(value, value)));
		const value = chosen.get(select.name) ?? "";
		if (values.has(value)) select.value = value;
	}
	const apply = () => {
		const isChosen = (row: HTMLElement) =>
			selects.every(({ name, value }) => value === "" || valuesOf(row, name).includes(value));
		for (const row of rows) row.hidden = !isChosen(row);
		for (const day of document.querySelectorAll<HTMLElement>(".day"))
			day.hidden = day.querySelector("[data-row]:not([hidden])") === null;
		const shown = rows.filter(({ hidden }) => !hidden).length;
		const { singular = "", plural = "" } = status?.dataset ?? {};
		const isOne = new Intl.PluralRules(document.documentElement.lang).select(shown) === "one";
		if (status) status.textContent = (isOne ? singular : plural).replace("{0}", String(shown));
	};
	form.addEventListener("change", () => {
		const query = selects.flatMap(({ name, value }) => (value === "" ? [] : [[name, value]]));
		const url = new URL(location.pathname, location.href);
		url.search = String(new URLSearchParams(query));
		history.replaceState(null, "", url);
		apply();
	});
	form.hidden = false;
	apply();
}
