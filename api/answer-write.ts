import { smallkeyText } from "../registry/judge.ts";
import { decodeSegment, parseSmallkey } from "../registry/smallkey.ts";
import type { Hashes } from "../store/hashes.ts";
import { isRefusal, type Refusal } from "../store/store.ts";
import type { Context } from "./context.ts";
import { receipt } from "./receipt.ts";
import { refresh } from "./refresh.ts";
import { askToRegister, askToRemove } from "./register.ts";
import { acceptWrite, type Reply, refuseLimited, refuseWrite, removed } from "./reply.ts";
import { askToSimplify, askToUpdate, askToUpdateFeature } from "./update.ts";
import { type Asked, hintOf, metaOf, refuseOthers, type Verified, verifyWrite, type Write } from "./write.ts";
import type { WriteAction } from "./write-routes.ts";

/** An answer with a body; null is the receipt. */
interface Answer {
	status: number;
	body: unknown;
}

/** A kind of change of one layer: how its body is read, and how it is answered. */
interface Change {
	ask(smallkey: string, body: Uint8Array, hashes?: Hashes): Asked | Refusal;
	answer(smallkey: string): Answer;
	/** The status while the change waits for a reviewer; the body is then the receipt. */
	reviewStatus: number;
}

const asKey = (smallkey: string): Answer => ({ status: 200, body: smallkey });

const changes: Readonly<Record<Exclude<WriteAction, "refresh">, Change>> = {
	/** PUT <base>/register/<smallkey>, /v1/register/… and /v2/register/… (specification, "Write: register a layer"). */
	register: { ask: askToRegister, answer: () => ({ status: 201, body: null }), reviewStatus: 201 },
	/** DELETE <base>/register/<smallkey>, /v1/register/… and /v2/register/…: with an empty body. */
	remove: { ask: askToRemove, answer: () => ({ status: 204, body: null }), reviewStatus: 202 },
	/** PUT <base>/v2/update/<smallkey>: some members of a registration. */
	update: {
		ask: askToUpdate,
		answer: (key) => ({ status: 200, body: { msg: "Updated", key } }),
		reviewStatus: 202,
	},
	/** PUT <base>/v1/updatefeature/<smallkey>: some members of a feature layer. */
	updateFeature: { ask: askToUpdateFeature, answer: asKey, reviewStatus: 202 },
	/** PUT <base>/v1/simplification/<smallkey>: how far a feature layer's lines may stray. */
	simplify: { ask: askToSimplify, answer: asKey, reviewStatus: 202 },
};

/** Answers a write: verify → 401, limit → 429, parse → 400, ownership → 403, store → the action's answer. */
export async function answerWrite(write: Write, context: Context): Promise<Reply> {
	const verified = await verifyWrite(write, context);
	if (isRefusal(verified)) return refuse(verified, hintOf(verified, write, context));
	const waitSeconds = (await context.limiter?.sender(verified.sender.id, verified.request)) ?? 0;
	if (waitSeconds > 0) return refuseLimited("sender", waitSeconds);
	const { action } = write;
	const meta = metaOf(action, verified);
	// The signature is now used: it must not take effect later, on other stored layers or as another method.
	const refuseForGood = async (refusal: Refusal) => {
		await context.store.remember?.({ ...meta, status: refusal.status });
		return refuse(refusal);
	};
	if (action === "refresh") {
		const outcome = await refresh(write.target, verified, meta, context);
		return isRefusal(outcome) ? refuseForGood(outcome) : acceptWrite(202, outcome);
	}
	const asked = ask(changes[action], write.target, verified, context.hashes);
	if (isRefusal(asked)) return refuseForGood(asked);
	const outcome = await context.store.change(asked.edits, { ...meta, ...asked });
	if (isRefusal(outcome)) return refuse(outcome);
	const { answer, reviewStatus } = changes[action];
	if (verified.sender.review) return acceptWrite(reviewStatus, await receipt(asked, outcome, context));
	const { status, body } = answer(asked.smallkey);
	if (status === 204) return removed();
	return acceptWrite(status, body ?? (await receipt(asked, outcome, context)));
}

/** Checks the smallkey, then the payload, then the ownership. */
function ask(change: Change, target: string, { sender, body }: Verified, hashes?: Hashes): Asked | Refusal {
	const segment = target.slice(target.lastIndexOf("/") + 1);
	const given = decodeSegment(segment);
	const smallkey = parseSmallkey(given ?? "");
	if (smallkey === null) {
		return { status: 400, errors: [smallkeyText(given ?? segment)], reason: "smallkey" };
	}
	const asked = change.ask(smallkey, body, hashes);
	return isRefusal(asked) ? asked : (refuseOthers(sender, smallkey) ?? asked);
}

function refuse({ status, errors, reason }: Refusal, hint: string | null = null): Reply {
	return refuseWrite(status, errors, {}, reason, hint);
}
