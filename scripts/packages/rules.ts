import { matchesGlob } from "../../registry/globs.ts";
import type { Lock, LockedPackage } from "./locks.ts";

/** An advisory that somebody has looked at, and why it does not hold us up. */
export interface AllowedAdvisory {
	/** `GHSA-…` */
	id: string;
	package: string;
	reason: string;
	/** The last day on which it counts: `2026-12-31`. */
	until: string;
}

/** What is reviewed, by hand: `.github/packages.json`. */
export interface Reviewed {
	/** Licences that any package may have. */
	licences: readonly string[];
	/** Name of a package, or a glob, → why its licence, or that it names none, is in order. */
	exceptions: Readonly<Record<string, string>>;
	advisories: readonly AllowedAdvisory[];
}

/** A version and nothing else (semver.org, 2); with `npm:` in front, of a package under another name. */
const exactVersion = /^(?:npm:(?:@[\w.-]+\/)?[\w.-]+@)?\d+\.\d+\.\d+(?:-[\w.-]+)?$/;

/** What is wrong with the packages of a folder, one line each. */
export function findPackageProblems({ folder, wanted, packages }: Lock, reviewed: Reviewed): string[] {
	const inexact = [...wanted].filter(([, version]) => !exactVersion.test(version));
	return [
		...inexact.map(([name, version]) => `${folder}: ${name}: must be an exact version, not ${version}`),
		...packages.flatMap((one) => findProblems(one, reviewed).map((text) => `${folder}: ${text}`)),
	];
}

function findProblems({ name, version, licence, integrity }: LockedPackage, reviewed: Reviewed): string[] {
	const problems: string[] = [];
	if (integrity === null) problems.push(`${name}@${version}: the lock file has no hash of it`);
	const isExcepted = Object.keys(reviewed.exceptions).some((glob) => matchesGlob(glob, name));
	if (!isExcepted && !isAllowed(licence, new Set(reviewed.licences))) {
		problems.push(
			`${name}@${version}: has the licence ${licence ?? "of nobody's word"}, which is not reviewed`,
		);
	}
	return problems;
}

/** Whether a licence may be chosen from an expression: `MIT OR GPL-2.0` may, `MIT AND GPL-2.0` may not (SPDX 2.3, annex D). */
export function isAllowed(expression: string | null, allowed: ReadonlySet<string>): boolean {
	if (expression === null) return false;
	const alternatives = expression.replace(/[()]/g, "").split(" OR ");
	return alternatives.some((alternative) =>
		alternative.split(" AND ").every((one) => allowed.has(one.trim())),
	);
}

/** Exceptions that no package needs any more. */
export function findStaleExceptions(locks: readonly Lock[], { exceptions }: Reviewed): string[] {
	const names = new Set(locks.flatMap(({ packages }) => packages.map(({ name }) => name)));
	const stale = Object.keys(exceptions).filter((glob) => ![...names].some((name) => matchesGlob(glob, name)));
	return stale.map((glob) => `.github/packages.json: the exception ${glob} fits no package`);
}
