import type { AllowedAdvisory } from "./rules.ts";

/** A known weakness of a package. */
export interface Advisory {
	/** `GHSA-…` */
	id: string;
	package: string;
	title: string;
	severity: string;
}

/** What `npm audit --json` prints of one package: `via` names advisories, or packages that have them. */
interface Vulnerable {
	via: (string | { name: string; title: string; url: string; severity: string })[];
}

/**
 * Reads what `npm audit --json` prints.
 * @throws {Error} where it is no report: the registry did not answer, or npm has another form by now
 */
export function parseAudit(text: string): Advisory[] {
	const report = JSON.parse(text) as {
		auditReportVersion?: number;
		vulnerabilities?: Record<string, Vulnerable>;
		message?: string;
	};
	if (report.auditReportVersion !== 2 || !report.vulnerabilities) {
		throw new Error(`npm audit: no report of version 2: ${report.message ?? "another form"}`);
	}
	const found = new Map<string, Advisory>();
	for (const { via } of Object.values(report.vulnerabilities)) {
		for (const cause of via) {
			if (typeof cause === "string") continue;
			const { name, title, url, severity } = cause;
			const id = url.slice(url.lastIndexOf("/") + 1);
			found.set(`${id} ${name}`, { id, package: name, title, severity });
		}
	}
	return [...found.values()];
}

/**
 * What of the advisories is not reviewed, and what of the review has run out, one line each.
 * @param today `2026-12-31`
 */
export function findAdvisoryProblems(
	advisories: readonly Advisory[],
	allowed: readonly AllowedAdvisory[],
	today: string,
): string[] {
	const counts = allowed.filter(({ until }) => until >= today);
	const isReviewed = (one: Advisory) =>
		counts.some(({ id, package: name }) => id === one.id && name === one.package);
	const open = advisories.filter((one) => !isReviewed(one));
	return open.map(({ id, package: name, title, severity }) => `${name}: ${severity}: ${title} (${id})`);
}
