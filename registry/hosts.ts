/** Host of an address, with its port where it has one; empty where it has none. */
export function hostOf(address: string): string {
	try {
		return new URL(address).host;
	} catch {
		return "";
	}
}
