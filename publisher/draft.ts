import { readPublicUrl, Variables } from "../api/configuration.ts";
import { draftAddress } from "../registry/draft.ts";
import type { Environment } from "../service/settings.ts";
import { type Io, printError } from "../terminal/io.ts";

/**
 * Prints where a registration that was refused can be mended: the catalogue shows it there as a draft, with what is
 * wrong. Nothing without `PUBLIC_URL`, or where the registration is no text or too long for an address.
 */
export async function printDraft(
	{ smallkey, body }: { smallkey: string; body: Uint8Array },
	environment: Environment,
	io: Io,
): Promise<void> {
	const variables = new Variables(environment);
	const publicUrl = readPublicUrl(variables);
	variables.check();
	const address = await draftAddress(publicUrl, { smallkey, text: new TextDecoder().decode(body) });
	if (address !== null) printError(io, `Try it as a draft: ${address}`);
}
