import { ssrRenderAttrs, ssrInterpolate, ssrRenderList, ssrRenderAttr, ssrIncludeBooleanAttr, ssrLooseContain, ssrLooseEqual, ssrRenderClass, ssrRenderStyle, ssrRenderComponent } from "vue/server-renderer";
import { defineComponent, computed, mergeProps, unref, useSSRContext, useModel, mergeModels, ref, shallowRef, watch, onMounted, onBeforeUnmount } from "vue";
import * as v from "valibot";
const LENGTHS_MS = {
  "1m": 6e4,
  "15m": 9e5,
  "1h": 36e5,
  "5h": 18e6,
  "1d": 864e5,
  "7d": 6048e5
};
const RATES = [0, 1, 2, 4, 6, 10, 15, 20, 30, 45, 60, 90, 120, 180, 240, 360, 600];
const SPEEDS = [
  [1e3, "1 second"],
  [1e4, "10 seconds"],
  [6e4, "1 minute"],
  [6e5, "10 minutes"],
  [36e5, "1 hour"]
];
const CATEGORIES = ["read", "write"];
const MOST = { windows: 3, operations: 4, streams: 4, tokens: 1e9, cost: 1e6 };
const limit = v.nullable(v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(MOST.tokens)));
const limits = v.strictObject({
  read: v.pipe(v.array(limit), v.maxLength(MOST.windows)),
  write: v.pipe(v.array(limit), v.maxLength(MOST.windows))
});
const unique = (values) => new Set(values).size === values.length;
const scenarioSchema = v.pipe(
  v.strictObject({
    /** Labels of {@link LENGTHS_MS}. */
    windows: v.pipe(
      v.array(v.picklist(Object.keys(LENGTHS_MS), "a window has one of the lengths offered")),
      v.minLength(1),
      v.maxLength(MOST.windows),
      v.check(unique, "two windows have the same length")
    ),
    /** Limits in tokens by category, one a window; `null`: unlimited. */
    personal: limits,
    /** Of everybody together; `null`: there is no such layer. */
    site: v.nullable(limits),
    operations: v.pipe(
      v.array(
        v.strictObject({
          name: v.pipe(v.string(), v.regex(/^[A-Za-z0-9_.:-]{1,32}$/, "a name is 1 to 32 of A-Z a-z 0-9 _ . : -")),
          category: v.picklist(CATEGORIES),
          cost: v.pipe(
            v.number("a price is a whole number"),
            v.integer("a price is a whole number"),
            v.minValue(0, "a price is 0 or more"),
            v.maxValue(MOST.cost, `a price is at most ${MOST.cost}`)
          )
        })
      ),
      v.minLength(1),
      v.maxLength(MOST.operations),
      v.check((all) => unique(all.map(({ name }) => name)), "two operations have the same name")
    ),
    /** Who asks for what, how often. */
    streams: v.pipe(
      v.array(
        v.strictObject({
          subject: v.pipe(v.string(), v.regex(/^[a-z]{1,12}$/)),
          /** Index into `operations`. */
          operation: v.pipe(v.number(), v.integer(), v.minValue(0)),
          perHour: v.picklist(RATES)
        })
      ),
      v.minLength(1),
      v.maxLength(MOST.streams),
      v.check((all) => unique(all.map(({ subject }) => subject)), "two streams have the same subject")
    ),
    speedMs: v.picklist(SPEEDS.map(([ms]) => ms))
  }),
  v.check(
    ({ operations, streams }) => streams.every(({ operation }) => operation < operations.length),
    "a stream asks for an operation that is there"
  ),
  v.check(
    ({ windows, personal, site }) => [personal, site ?? personal].every((table) => CATEGORIES.every((each) => table[each].length === windows.length)),
    "there is one limit for each window"
  )
);
function faultOf$1(scenario) {
  const checked2 = v.safeParse(scenarioSchema, scenario);
  return checked2.success ? void 0 : checked2.issues[0].message;
}
const SUBJECTS = ["ann", "bob", "cleo", "dan"];
function defaultScenario() {
  return {
    windows: ["1h", "5h", "1d"],
    personal: { read: [120, 400, 1200], write: [60, 200, 600] },
    site: { read: [3e3, 1e4, 36e3], write: [1500, 5e3, 18e3] },
    operations: [
      { name: "search", category: "read", cost: 4 },
      { name: "upload", category: "write", cost: 15 }
    ],
    streams: [
      { subject: "ann", operation: 1, perHour: 6 },
      { subject: "bob", operation: 0, perHour: 45 }
    ],
    speedMs: 6e4
  };
}
const VERSION = "v1.";
const LONGEST_FRAGMENT = 3e3;
function fragmentOf(scenario) {
  const bytes = new TextEncoder().encode(JSON.stringify(scenario));
  const base64 = btoa(String.fromCharCode(...bytes));
  return VERSION + base64.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}
function readFragment(fragment) {
  if (fragment.length > LONGEST_FRAGMENT) return { fault: "This address is longer than any that is made here." };
  const version = /^v\d{1,4}\./.exec(fragment)?.[0];
  if (version === void 0) return { fault: "This address holds no playground." };
  if (version !== VERSION) return { fault: "This address was made by another version of the playground." };
  const parsed2 = parsedJson(fragment.slice(version.length));
  const checked2 = v.safeParse(scenarioSchema, parsed2);
  if (checked2.success) return { scenario: checked2.output };
  return { fault: parsed2 === void 0 ? "This address is cut off." : `Not playable: ${checked2.issues[0].message}.` };
}
function parsedJson(base64url2) {
  try {
    const bytes = Uint8Array.from(
      atob(base64url2.replaceAll("-", "+").replaceAll("_", "/")),
      (each) => each.charCodeAt(0)
    );
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    return void 0;
  }
}
const MAX_SHOWN = 40;
function cut(text2, most) {
  if (text2.length <= most) return text2;
  return `${text2.slice(0, most - 1).replace(/[\uD800-\uDBFF]$/, "")}…`;
}
function plain(name, most = MAX_SHOWN) {
  return cut(name, most).replace(/[\p{Cc}\u2028\u2029]/gu, "?");
}
function shown(value) {
  if (typeof value === "string") return `"${plain(value)}"`;
  if (typeof value === "number" || typeof value === "boolean" || value === null) return String(value);
  if (typeof value === "bigint") return `${plain(String(value))}n`;
  return kindOf(value);
}
function kindOf(value) {
  if (value === void 0) return "nothing";
  if (value === null) return "null";
  if (Array.isArray(value)) return "an array";
  if (typeof value === "function") return isClass(value) ? "a class, not an instance" : "a function, not called";
  if (typeof value !== "object") return `a ${typeof value}`;
  if (typeof value.then === "function") return "a promise: await it first";
  const name = value.constructor?.name;
  return typeof name !== "string" || name === "" || name === "Object" ? "an object" : `an instance of ${plain(name)}`;
}
function isClass(value) {
  return /^class\b/.test(Function.prototype.toString.call(value));
}
const DOCS_BASE = "https://github.com/scoregw/quota/blob/main/docs/reference/errors.md";
const MAX_MESSAGE = 500;
const MAX_FAULTS$1 = 100;
const SPELLED_OUT = 5;
const MAX_PATH = 200;
const MAX_TEXT = 360;
const BRAND = /* @__PURE__ */ Symbol.for("@scoregw/quota/QuotaError");
class QuotaError extends Error {
  name = "QuotaError";
  code;
  /** The faults found, when a document was refused, the first 100; else empty. */
  faults;
  /** Address of the page that explains `code`. */
  docs;
  constructor(code, message, details = {}) {
    super(cut(message, MAX_MESSAGE), details.cause === void 0 ? void 0 : { cause: details.cause });
    this.code = code;
    this.faults = details.faults ?? [];
    this.docs = `${DOCS_BASE}#${code}`;
    Object.defineProperty(this, BRAND, { value: true });
  }
  // Not a field: compiled as an assignment it would meet a property of all functions that is read-only.
  static get [Symbol.hasInstance]() {
    return isInstance;
  }
}
function isInstance(value) {
  if (this !== QuotaError) return Function.prototype[Symbol.hasInstance].call(this, value);
  return typeof value === "object" && value !== null && value[BRAND] === true;
}
function faultyDocument(code, what, faults) {
  const kept = faults.slice(0, MAX_FAULTS$1).map(({ path, message }) => ({
    path: plain(path, MAX_PATH),
    message: plain(message, MAX_TEXT)
  }));
  return new QuotaError(code, messageOf(`${what} refused: `, kept, faults.length), { faults: kept });
}
function messageOf(head, faults, total) {
  const lines = faults.slice(0, SPELLED_OUT).map(({ path, message }) => path === "" ? message : `${path}: ${message}`);
  for (let count = lines.length; count > 1; count--) {
    const text2 = head + lines.slice(0, count).join("; ") + moreThan(count, total);
    if (text2.length <= MAX_MESSAGE) return text2;
  }
  const tail = moreThan(1, total);
  return head + cut(lines[0] ?? "", MAX_MESSAGE - head.length - tail.length) + tail;
}
function moreThan(count, total) {
  return total > count ? `; and ${total - count} more` : "";
}
async function boxed({ sync }, answer) {
  return { value: sync ? answer : await answer };
}
const LONGEST_MS = {
  hour: 3 * 36e5,
  day: 2 * 864e5,
  week: 9 * 864e5,
  month: 33 * 864e5,
  year: 368 * 864e5
};
function windowCell(window) {
  const { label } = window;
  if (window.every === void 0) return rollingCell(label, window.lengthMs);
  const identity = `calendar ${label} ${LONGEST_MS[window.every]} ${ruleText(window)}`;
  return { kind: "calendar", label, identity, lengthMs: LONGEST_MS[window.every] };
}
function slotsCell(label) {
  return { kind: "concurrency", label, identity: `concurrency ${label}`, lengthMs: Number.POSITIVE_INFINITY };
}
function rollingCell(label, lengthMs) {
  return { kind: "rolling", label, identity: `rolling ${label} ${lengthMs}`, lengthMs };
}
function ruleText({ every, timeZone, weekStartsOn, anchor }) {
  const week = every === "week" ? ` ${weekStartsOn ?? 1}` : "";
  return `${every} ${timeZone}${week} ${anchor === "subject" ? "subject" : anchorText(every, anchor)}`;
}
function anchorText(every, { month = 1, day = 1, time = "00:00" } = {}) {
  if (every === "year") return `${month}-${day} ${time}`;
  return every === "month" ? `${day} ${time}` : time;
}
function cellOfIdentity(identity) {
  const [kind, label, length] = identity.split(" ");
  if (!label) return void 0;
  if (kind === "concurrency") return length === void 0 ? slotsCell(label) : void 0;
  const lengthMs = Number(length);
  if (!Number.isSafeInteger(lengthMs) || lengthMs <= 0) return void 0;
  if (kind === "rolling") return rollingCell(label, lengthMs);
  return kind === "calendar" ? { kind, label, identity, lengthMs } : void 0;
}
function inRowOrder(cells) {
  return [...cells].sort((a, b) => {
    if (a.lengthMs !== b.lengthMs) return a.lengthMs < b.lengthMs ? -1 : 1;
    return a.label < b.label ? -1 : 1;
  });
}
function hash32(text2) {
  let hash = 2166136261;
  for (let i = 0; i < text2.length; i++) hash = Math.imul(hash ^ text2.charCodeAt(i), 16777619);
  return hash >>> 0;
}
const MAX_LIMIT = 10 ** 11;
const MIN_MULTIPLIER = 0.25;
const MAX_MULTIPLIER = 4;
function isLimit(value) {
  return value === "unlimited" || isPrice(value) && value <= MAX_LIMIT;
}
function isPrice(value) {
  return Number.isSafeInteger(value) && value >= 0;
}
function isMultiplier(value) {
  return typeof value === "number" && value >= MIN_MULTIPLIER && value <= MAX_MULTIPLIER && hundredths(value) !== void 0;
}
function hundredths(factor) {
  const whole = Math.round(factor * 100);
  return whole / 100 === factor ? whole : void 0;
}
function ownOf(record, name) {
  return record !== void 0 && Object.hasOwn(record, name) ? record[name] : void 0;
}
function isInstant(value) {
  return Number.isSafeInteger(value) && value >= 0 && value <= 864e13;
}
function policyCells({ windows, concurrency }) {
  const slots = concurrency === void 0 ? [] : [slotsCell(concurrency.label)];
  return inRowOrder([...windows.map(windowCell), ...slots]);
}
function limitLabels({ windows, concurrency }) {
  const labels = windows.map(({ label }) => label);
  return concurrency === void 0 ? labels : [...labels, concurrency.label];
}
function hasLimit(policy, layer, category, label) {
  return ownOf(ownOf(ownOf(policy.base, layer), category), label) !== void 0;
}
function takesSlot(policy, operation) {
  const { concurrency, layers, operations } = policy;
  if (concurrency === void 0) return false;
  const { category } = operations[operation];
  const isNamed = concurrency.operations?.includes(operation) || concurrency.categories?.includes(category);
  return isNamed === true && layers.some(({ name }) => hasLimit(policy, name, category, concurrency.label));
}
function storeSchema(policy) {
  const { categories, layers } = policy;
  return {
    cells: policyCells(policy),
    categories,
    layers: layers.map(({ name, shared }) => ({ name, shared }))
  };
}
function layerKey(layer, subject) {
  if (layer.shared) return "";
  return typeof subject === "string" ? subject : subject[layer.name];
}
function idOwnerKey({ layers }, subject) {
  return layerKey(layers.find(({ shared }) => !shared), subject);
}
function instantOf(clock) {
  const now = clock.now();
  if (Number.isSafeInteger(now)) return now;
  throw new QuotaError("store_error", `the clock said ${String(now)}: expected whole epoch milliseconds`);
}
const systemClock = { now: () => Date.now() };
const systemStopwatch = () => performance.now();
function orAborted(pending, signal) {
  return new Promise((resolve, reject) => {
    let isDecided = false;
    const first = () => {
      if (isDecided) return false;
      isDecided = true;
      signal.removeEventListener("abort", onAbort);
      return true;
    };
    const onAbort = () => {
      if (first()) reject(signal.reason);
    };
    signal.addEventListener("abort", onAbort);
    if (signal.aborted) onAbort();
    pending.then(
      (reservation) => {
        if (first()) resolve(reservation);
        else Promise.resolve(reservation.cancel()).catch(() => void 0);
      },
      (error) => {
        if (first()) reject(error);
      }
    );
  });
}
function withinTime(answer, ms, late) {
  return new Promise((resolve, reject) => {
    let isOver2 = false;
    const giveUp = () => {
      isOver2 = true;
      reject(new QuotaError("store_error", `no answer within ${ms} ms`));
    };
    let timer = setTimeout(() => {
      timer = setTimeout(giveUp);
    }, ms);
    Promise.resolve(answer).then(
      (value) => {
        clearTimeout(timer);
        if (isOver2) late?.(value);
        else resolve(value);
      },
      (error) => {
        clearTimeout(timer);
        reject(error);
      }
    );
  });
}
class NoAnswer {
  error;
  /** What would have been asked. */
  quotas;
  /** Whether it was the settings that could not be read. */
  ofSettings;
  constructor(error, quotas, ofSettings = false) {
    this.error = error;
    this.quotas = quotas;
    this.ofSettings = ofSettings;
  }
}
const MAX_CATCH_UPS = 3;
const MAX_TURNS$2 = 3;
class Stale {
  /** The revision that they know, `''`: none. */
  revision;
  constructor(revision) {
    this.revision = revision;
  }
}
const TOO_LATE = "too late";
function knownTo(live, { subject, plan, category }) {
  try {
    return live.known(subject, plan);
  } catch (error) {
    return new NoAnswer(error, live.compiled.defaults[category], true);
  }
}
class SyncCounting {
  #live;
  #periods;
  #counters;
  constructor(live, periods, counters) {
    this.#live = live;
    this.#periods = periods;
    this.#counters = counters;
  }
  take(asked, { id, hold }) {
    const live = this.#live;
    const counters = this.#counters;
    let quotas = live.compiled.defaults[asked.category];
    let ofSettings = true;
    try {
      const { subject, category, cost, plan } = asked;
      quotas = live.known(subject, plan)[category];
      ofSettings = false;
      if (id === void 0 && hold === void 0 && counters.takeOpen !== void 0) {
        const reply = counters.takeOpen(subject, category, quotas, cost, live.compiled.settings.version);
        if (reply !== void 0) return reply;
      }
      for (let turns = 1; ; turns++) {
        const periods = this.#periods.of(quotas);
        const settingsRevision = void 0;
        const reply = counters.take({ subject, category, quotas, cost, settingsRevision, id, periods, hold });
        if (reply.outcome !== "stale") {
          this.#periods.heard(reply.now);
          return answeredUnder(reply, quotas, periods, live.compiled.settings.version);
        }
        if (turns === MAX_TURNS$2) throw clockTurned();
        this.#periods.stale(reply.now);
      }
    } catch (error) {
      return new NoAnswer(error, quotas, ofSettings);
    }
  }
}
function clockTurned() {
  return new QuotaError("store_error", "the store's clock was turned faster than its periods could be computed");
}
class AsyncCounting {
  #parts;
  constructor(parts) {
    this.#parts = parts;
  }
  /**
   * Never rejects.
   *
   * @param firstAskedAt when the caller began to wait for the very first look at the settings, by the machine's stopwatch
   */
  async take(asked, terms, firstAskedAt) {
    const { live, keepTime } = this.#parts;
    const askedAt = firstAskedAt ?? systemStopwatch();
    const known = knownTo(live, asked);
    if (known instanceof NoAnswer) return known;
    if (known === void 0 || !keepTime || firstAskedAt !== void 0) {
      return this.#inTime(asked, terms, askedAt, (wait) => this.#takeKnowing(asked, terms, known, wait));
    }
    const answer = await this.#takeUnder(known[asked.category], asked, terms);
    if (!(answer instanceof Stale)) return answer;
    return this.#inTime(asked, terms, askedAt, (wait) => this.#takeCaughtUp(asked, terms, answer, wait));
  }
  /** Several stores are asked, or one that keeps no time: the caller waits for one deadline. */
  async #inTime(asked, terms, askedAt, ask) {
    const { live, deadlineMs, late } = this.#parts;
    const wait = { forSettings: false, isOver: false };
    const leftMs = Math.max(0, deadlineMs - (systemStopwatch() - askedAt));
    try {
      return await withinTime(ask(wait), leftMs, (reply) => {
        if (!(reply instanceof NoAnswer) && reply.outcome === "admitted") late(asked, reply, terms);
      });
    } catch (error) {
      wait.isOver = true;
      return new NoAnswer(error, live.compiled.defaults[asked.category], wait.forSettings);
    }
  }
  /** @param known the subject's quotas by category, if they need not be asked for */
  async #takeKnowing(asked, terms, known, wait) {
    const { live } = this.#parts;
    let quotas;
    try {
      wait.forSettings = known === void 0;
      quotas = known ?? live.quotasOf(await live.fetch(asked.subject), asked.plan, asked.subject);
    } catch (error) {
      return new NoAnswer(error, live.compiled.defaults[asked.category], true);
    }
    wait.forSettings = false;
    if (wait.isOver) return new NoAnswer(TOO_LATE, quotas[asked.category]);
    const answer = await this.#takeUnder(quotas[asked.category], asked, terms);
    return answer instanceof Stale ? this.#takeCaughtUp(asked, terms, answer, wait) : answer;
  }
  /** Once more, after settings were read that the counters knew of and this process did not. */
  async #takeCaughtUp(asked, terms, first, wait) {
    const { live } = this.#parts;
    let stale = first;
    for (let tries = 1; tries <= MAX_CATCH_UPS; tries++) {
      let byCategory;
      try {
        wait.forSettings = true;
        await live.catchUp(stale.revision);
        byCategory = live.known(asked.subject, asked.plan) ?? live.quotasOf(await live.fetch(asked.subject), asked.plan, asked.subject);
      } catch (error2) {
        return new NoAnswer(error2, live.compiled.defaults[asked.category], true);
      }
      wait.forSettings = false;
      if (wait.isOver) return new NoAnswer(TOO_LATE, byCategory[asked.category]);
      const answer = await this.#takeUnder(byCategory[asked.category], asked, terms);
      if (!(answer instanceof Stale)) return answer;
      stale = answer;
    }
    const error = new QuotaError("store_error", "the settings changed faster than they could be read");
    return new NoAnswer(error, live.compiled.defaults[asked.category]);
  }
  async #takeUnder(quotas, asked, terms) {
    const { live, periods, counters, sync } = this.#parts;
    const { subject, category, cost } = asked;
    try {
      for (let turns = 1; ; turns++) {
        const version = live.compiled.settings.version;
        const known = periods.of(quotas);
        const settingsRevision = live.revision;
        const { id, hold } = terms;
        const request = { subject, category, quotas, cost, settingsRevision, id, periods: known, hold };
        const answer = counters.take(request);
        const reply = sync ? answer : await answer;
        if (reply.outcome !== "stale") {
          periods.heard(reply.now);
          return answeredUnder(reply, quotas, known, version);
        }
        if (reply.settingsRevision !== void 0 || known === void 0) return new Stale(reply.settingsRevision ?? "");
        if (turns === MAX_TURNS$2) throw clockTurned();
        periods.stale(reply.now);
      }
    } catch (error) {
      return new NoAnswer(error, quotas);
    }
  }
}
function answeredUnder({ outcome, now, states, endsAt }, quotas, periods, settingsVersion) {
  return { outcome, now, states, quotas, periods, settingsVersion, endsAt };
}
const MAX_LENGTH = 40;
function nearest(word, names) {
  if (word.length > MAX_LENGTH) return void 0;
  const slips = Math.min(2, Math.floor(word.length / 3));
  const measured = names.map((name) => ({ name, distance: distance(word.toLowerCase(), name.toLowerCase()) }));
  const best = measured.reduce((a, b) => b.distance < a.distance ? b : a, { name: "", distance: slips + 1 });
  return best.distance <= slips ? best.name : void 0;
}
function distance(from, to) {
  let beforeLast = [];
  let last2 = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let i = 1; i <= from.length; i++) {
    const row = [i];
    for (let j = 1; j <= to.length; j++) {
      const same = from[i - 1] === to[j - 1];
      const swapped = i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1];
      const cheapest = Math.min(row[j - 1] + 1, last2[j] + 1, last2[j - 1] + (same ? 0 : 1));
      row.push(swapped ? Math.min(cheapest, beforeLast[j - 2] + 1) : cheapest);
    }
    beforeLast = last2;
    last2 = row;
  }
  return last2[to.length];
}
const MAX_LISTED = 120;
function noSuchName(name, names, have) {
  const meant = typeof name === "string" ? nearest(name, names) : void 0;
  return `${shown(name)}; ${meant === void 0 ? `${have} ${listed(names)}` : `did you mean "${meant}"?`}`;
}
function listed(names) {
  if (names.length === 0) return "none";
  const all = names.join(", ");
  if (all.length <= MAX_LISTED) return all;
  const room = all.lastIndexOf(", ", MAX_LISTED);
  const first = room === -1 ? [] : all.slice(0, room).split(", ");
  return first.length === 0 ? `${names.length} names` : `${first.join(", ")} and ${names.length - first.length} more`;
}
function unknownKey(key, names, words = {}) {
  if (Object.hasOwn(words, key)) return `unknown key; here ${words[key]}`;
  const meant = nearest(key, names);
  if (meant !== void 0) return `unknown key; did you mean "${meant}"?`;
  return names.length === 0 ? "unknown key" : `unknown key; known are ${listed(names)}`;
}
const MARK = "hold1.";
const MAX_TOKEN = 16384;
function holdToken(name) {
  const { subject, category, operation, plan, id, nonce, fingerprint, slot, ttlMs } = name;
  const fields = [subject, category, operation, plan ?? null, id, nonce, fingerprint, slot, ttlMs];
  return MARK + base64url(JSON.stringify(fields));
}
function holdOfToken(token) {
  const name = typeof token === "string" && token.startsWith(MARK) ? parsed(token.slice(MARK.length)) : void 0;
  if (name !== void 0) return name;
  const got = typeof token === "string" ? "another text" : kindOf(token);
  throw new QuotaError(
    "invalid_token",
    `token: expected the token of a hold, as reservation.token gives it, got ${got}`
  );
}
function parsed(text2) {
  if (text2.length > MAX_TOKEN) return void 0;
  let fields;
  try {
    fields = JSON.parse(ofBase64url(text2));
  } catch {
    return void 0;
  }
  if (!Array.isArray(fields) || fields.length !== 9) return void 0;
  const [subject, category, operation, plan, id, nonce, fingerprint, slot, ttlMs] = fields;
  const texts2 = [category, operation, id, nonce, fingerprint];
  const isWhole = (typeof subject === "string" || typeof subject === "object" && subject !== null) && texts2.every((each) => typeof each === "string") && (plan === null || typeof plan === "string") && typeof slot === "boolean" && Number.isSafeInteger(ttlMs);
  if (!isWhole) return void 0;
  return {
    ...{ subject, category, operation, id, nonce, fingerprint, slot, ttlMs },
    plan: plan ?? void 0
  };
}
function holdRef(category, id) {
  return base64url(JSON.stringify([category, id]));
}
function base64url(text2) {
  let bytes = "";
  for (let i = 0; i < text2.length; i++) {
    const unit = text2.charCodeAt(i);
    bytes += String.fromCharCode(unit >> 8, unit & 255);
  }
  return btoa(bytes).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}
function ofBase64url(text2) {
  const bytes = atob(text2.replaceAll("-", "+").replaceAll("_", "/"));
  let units = "";
  for (let i = 0; i + 1 < bytes.length; i += 2)
    units += String.fromCharCode(bytes.charCodeAt(i) << 8 | bytes.charCodeAt(i + 1));
  return units;
}
const EVERY_MS = 1e3;
class HoldWatch {
  #sweep;
  #timer;
  constructor(sweep) {
    this.#sweep = sweep;
  }
  /** Begins, if it has not. */
  start() {
    this.#timer ??= setInterval(() => void this.#sweep().catch(() => void 0), EVERY_MS);
    this.#timer.unref?.();
  }
  stop() {
    clearInterval(this.#timer);
    this.#timer = void 0;
  }
}
const MAX_BYTES = 256;
const SURELY_SHORT = Math.floor(MAX_BYTES / 3);
function checkText(text2, code, what) {
  if (typeof text2 === "string" && text2.length > 0 && (text2.length <= SURELY_SHORT || fitsBytes(text2))) return;
  const got = typeof text2 === "string" ? `${text2.length} characters` : kindOf(text2);
  throw new QuotaError(code, `${what}: expected text of 1 to ${MAX_BYTES} bytes (UTF-8), got ${got}`);
}
function fitsBytes(text2) {
  return text2.length <= MAX_BYTES && new TextEncoder().encode(text2).length <= MAX_BYTES;
}
function ownLayerNames(layers) {
  return layers.filter((layer) => !layer.shared).map(({ name }) => name);
}
function checkSubject(subject, names) {
  const isShort = typeof subject === "string" && subject.length > 0 && subject.length <= SURELY_SHORT;
  if (!isShort || names.length !== 1) checkAnySubject(subject, names);
}
function checkAnySubject(subject, names) {
  if (typeof subject === "object" && subject !== null && typeof subject.then !== "function") {
    checkKeys(subject, names);
    return;
  }
  checkText(subject, "invalid_subject", "subject");
  if (names.length === 1) return;
  const message = `subject: expected an object with one key for each of ${names.join(", ")}, got a string`;
  throw new QuotaError("invalid_subject", message);
}
function checkKeys(keys, names) {
  for (const name of names)
    checkText(Object.hasOwn(keys, name) ? keys[name] : void 0, "invalid_subject", `subject.${name}`);
  const stranger = Object.keys(keys).find((key) => !names.includes(key));
  if (stranger === void 0) return;
  const message = `subject: unknown key ${shown(stranger)}; one key for each of ${names.join(", ")}`;
  throw new QuotaError("invalid_subject", message);
}
class RequestCheck {
  #policy;
  #ownLayers;
  #rules;
  constructor(policy, rules) {
    this.#policy = policy;
    this.#ownLayers = ownLayerNames(policy.layers);
    this.#rules = rules;
  }
  /** How long the record of a reservation is kept after its last use, in milliseconds. */
  get idTtlMs() {
    return this.#rules.idTtlMs;
  }
  /** How long a hold lasts that says nothing else, in milliseconds; `undefined`: the store has none. */
  get holdTtlMs() {
    return this.#rules.canHold ? this.#rules.holdTtlMs : void 0;
  }
  /** @throws {QuotaError} `unknown_operation`, `invalid_subject`, `invalid_cost`, `invalid_plan` */
  request(request, { operations }) {
    const operation = operations.get(request?.operation) ?? onlyOperation(request, operations);
    if (operation === void 0) throw unknownOperation(request, this.#policy);
    checkSubject(request.subject, this.#ownLayers);
    const cost = request.cost === void 0 ? operation.cost : request.cost;
    if (!Number.isSafeInteger(cost) || cost < 0) throw invalidCost(cost);
    const { plan } = request;
    if (plan !== void 0) checkPlan(plan);
    const { name, category, slot } = operation;
    return { subject: request.subject, operation: name, category, cost, slot, plan };
  }
  /** @throws {QuotaError} `invalid_subject`, `invalid_plan` */
  subject(subject, plan) {
    checkSubject(subject, this.#ownLayers);
    if (plan !== void 0) checkPlan(plan);
  }
  /** @throws {QuotaError} `reservation_required` for what needs a slot, which only a reservation can give back */
  consumable({ slot, operation }) {
    if (!slot) return;
    const { label } = this.#policy.concurrency;
    const message = `"${operation}" takes a slot of "${label}", which has to be given back: use reserve() or run()`;
    throw new QuotaError("reservation_required", message);
  }
  /**
   * What a reservation is made under. What an id was used for is the operation and a cost that the caller gave; never the
   * price, which may have changed between two tries. A hold without an id goes by its nonce.
   *
   * @throws {QuotaError} `invalid_id`, `invalid_ttl`, `holds_unsupported`
   */
  terms({ id, cost, ttlMs }, { operation, slot }) {
    const hold = ttlMs === void 0 && !slot ? void 0 : this.#hold(ttlMs, slot);
    if (id === void 0 && hold === void 0) return NO_TERMS$2;
    if (id !== void 0) checkText(id, "invalid_id", "id");
    const nonce = this.#rules.createNonce();
    const use = `${operation}:${cost ?? ""}`;
    const ttl = this.#rules.idTtlMs;
    return id === void 0 ? { id: { id: nonce, nonce, fingerprint: `${HOLD_MARK}${use}`, ttlMs: ttl }, hold } : { id: { id, nonce, fingerprint: use, ttlMs: ttl }, hold };
  }
  /** @throws {QuotaError} `invalid_ttl` unless a hold may last so long */
  ttl(ttlMs) {
    const { maxTtlMs } = this.#rules;
    if (Number.isSafeInteger(ttlMs) && ttlMs >= 1 && ttlMs <= maxTtlMs) return ttlMs;
    const message = `ttlMs: expected a whole number of milliseconds, 1 to ${maxTtlMs} (maxTtlMs), got ${shown(ttlMs)}`;
    throw new QuotaError("invalid_ttl", message);
  }
  #hold(ttlMs, slot) {
    const { holdTtlMs, maxHolds, canHold } = this.#rules;
    if (!canHold) {
      throw new QuotaError("holds_unsupported", 'ttlMs: this store has no holds; see "can" of the store');
    }
    return { ttlMs: ttlMs === void 0 ? holdTtlMs : this.ttl(ttlMs), slot, maxHolds };
  }
}
const NO_TERMS$2 = {};
const HOLD_MARK = "hold ";
function operationOf(fingerprint) {
  const use = fingerprint.startsWith(HOLD_MARK) ? fingerprint.slice(HOLD_MARK.length) : fingerprint;
  return use.slice(0, use.lastIndexOf(":"));
}
function checkPlan(plan) {
  checkText(plan, "invalid_plan", "plan");
}
function onlyOperation(request, operations) {
  const isUnnamed = typeof request === "object" && request !== null && request.operation === void 0;
  return isUnnamed && operations.size === 1 ? operations.values().next().value : void 0;
}
function unknownOperation(request, { operations }) {
  if (typeof request !== "object" || request === null) {
    return new QuotaError("unknown_operation", `expected a request, { subject, operation }, got ${kindOf(request)}`);
  }
  const { operation } = request;
  const names = Object.keys(operations);
  if (operation === void 0) {
    return new QuotaError("unknown_operation", `operation: missing; the policy has ${listed(names)}`);
  }
  return new QuotaError("unknown_operation", `unknown operation ${noSuchName(operation, names, "the policy has")}`);
}
function checkTokens(tokens, what, least) {
  if (Number.isSafeInteger(tokens) && tokens >= least) return;
  const message = `${what}: expected a whole number of tokens, ${least} or more, got ${shown(tokens)}`;
  throw new QuotaError("invalid_cost", message);
}
function invalidCost(cost) {
  return new QuotaError("invalid_cost", `cost: expected a whole number of tokens, 0 or more, got ${shown(cost)}`);
}
function shownHold({ categories }, hold) {
  const { id, fingerprint, tokens, slot, takenAt, endsAt } = hold;
  const category = categories[hold.category];
  return { ref: holdRef(category, id), operation: operationOf(fingerprint), category, tokens, slot, takenAt, endsAt };
}
function shownEnd({ fingerprint, ...rest }) {
  return { operation: operationOf(fingerprint), ...rest };
}
function isObject$1(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
function isPlain(value) {
  if (!isObject$1(value)) return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}
function expectedText(what, value, show = shown) {
  return value === void 0 ? `missing: ${what}` : `expected ${what}, got ${show(value)}`;
}
function expected(what) {
  return ({ input }) => expectedText(what, input);
}
function expectedKind(what) {
  return ({ input }) => expectedText(what, input, kindOf);
}
function textOf({ expected: what, input }) {
  return what === "never" ? "unknown key" : expectedText(what ?? "something else", input, kindOf);
}
function where(isRight, what) {
  return v.custom(isRight, expected(what));
}
function having(methods, what) {
  return v.custom(
    (value) => lackOf(methods, value) === void 0,
    ({ input }) => expectedText(what, input, (value) => kindWithout(lackOf(methods, value), value))
  );
}
function lackOf(methods, value) {
  const object = Object(value);
  return methods.find((method) => typeof object[method] !== "function");
}
function kindWithout(method, value) {
  const isPromise = typeof value?.then === "function";
  return typeof value === "object" && value !== null && !isPromise ? `${kindOf(value)} without ${method}()` : kindOf(value);
}
function objectWhere(isRight, what) {
  return v.custom((value) => typeof value === "object" && value !== null && isRight(value), expectedKind(what));
}
function aFunction(what = "a function") {
  return v.custom((value) => typeof value === "function", expectedKind(what));
}
function aClock() {
  return having(["now"], "a clock in epoch milliseconds");
}
function wholeNumber(min, max, unit = "") {
  const range = max === Number.MAX_SAFE_INTEGER ? `, ${min} or more` : ` from ${min} to ${max}`;
  const what = `a whole number${unit === "" ? "" : ` of ${unit}`}${range}`;
  return where((value) => Number.isSafeInteger(value) && value >= min && value <= max, what);
}
function oneOf(...values) {
  const what = values.map((value) => typeof value === "string" ? `"${value}"` : String(value)).join(" or ");
  return where((value) => values.includes(value), what);
}
function textLike(pattern, what) {
  return where((value) => typeof value === "string" && pattern.test(value), what);
}
function optional(check2) {
  return v.optional(check2);
}
function withDefault(check2, value) {
  return v.optional(check2, () => value);
}
function listOf(check2, min, max) {
  const count = v.rawCheck(({ dataset: { value }, addIssue }) => {
    if (!Array.isArray(value) || value.length >= min && value.length <= max) return;
    addIssue({ message: `expected ${min} to ${max} entries, got ${value.length}` });
  });
  return v.pipe(v.array(check2, expectedKind("an array")), count);
}
function tableOf(check2, what) {
  return tableBy(() => void 0, check2, what);
}
function tableBy(wrongKey, check2, what) {
  return tableEach((key) => wrongKey(key) ?? check2, what);
}
function tableEach(checkOf, what) {
  const entry2 = (key) => {
    const check2 = key === "__proto__" ? "not a possible key" : checkOf(key);
    return typeof check2 === "string" ? refused$1(check2) : check2;
  };
  return objectBy(
    isPlain,
    what,
    (table) => v.object(Object.fromEntries(Object.keys(table).map((key) => [key, entry2(key)])))
  );
}
function group(checks) {
  const names = Object.keys(checks);
  const members = v.object(Object.fromEntries(names.map((name) => [name, member$1(checks[name])])));
  return objectBy(isObject$1, "an object", (options) => v.pipe(members, noOthers(options, names)));
}
function objectBy(isRight, what, schemaOf2) {
  const none = refused$1(expectedKind(what));
  return v.lazy((value) => isRight(value) ? schemaOf2(value) : none);
}
function refused$1(message) {
  return v.custom(() => false, message);
}
function member$1(check2) {
  const mayBeMissing = ["optional", "exact_optional", "nullish"].includes(check2.type);
  return mayBeMissing ? check2 : v.exactOptional(check2, () => void 0);
}
const MAX_EXPLAINED = 100;
function noOthers(input, names) {
  const known = new Set(names);
  return v.rawCheck(({ addIssue }) => {
    const others = Object.keys(input).filter((key) => !known.has(key));
    for (const [index, key] of others.entries()) {
      const message = index < MAX_EXPLAINED ? unknownKey(key, names) : "unknown key";
      addIssue({ expected: "never", message, path: [{ type: "object", origin: "key", input, key, value: void 0 }] });
    }
  });
}
const A_LIMIT = `a whole number of tokens from 0 to ${MAX_LIMIT}`;
const A_PRICE = "a whole number of tokens, 0 or more";
const NAME = /^[A-Za-z0-9_-]{1,32}$/;
const A_NAME = "1 to 32 of A-Z a-z 0-9 _ -";
const OPERATION_NAME = /^[A-Za-z0-9_.:-]{1,64}$/;
function nameCheck() {
  return textLike(NAME, A_NAME);
}
function wrongOperation(operation) {
  const isName = OPERATION_NAME.test(operation);
  return isName ? void 0 : expectedText("a name of 1 to 64 of A-Z a-z 0-9 _ . : -", operation);
}
function wrongPlan(plan) {
  return NAME.test(plan) ? void 0 : expectedText(`a plan's name of ${A_NAME}`, plan);
}
function nameOf(what, names, have = "the policy has") {
  return v.custom(
    (value) => names.includes(value),
    ({ input }) => typeof input === "string" ? `not ${what}: ${noSuchName(input, names, have)}` : expectedText(what, input)
  );
}
function limitCheck() {
  return where(isLimit, `${A_LIMIT}, or "unlimited"`);
}
function eachKey(keys, check2) {
  return group(Object.fromEntries(keys.map((key) => [key, check2(key)])));
}
const MAX_FAULTS = 100;
class Faults {
  list = [];
  add(path, message) {
    if (this.list.length < MAX_FAULTS) this.list.push({ path, message });
  }
}
function strangers(value, known, path, faults) {
  if (value !== void 0 && !isObject$1(value)) {
    faults.add(path, "expected an object: the values of the policy apply");
    return;
  }
  for (const key of Object.keys(value ?? {})) {
    const of = path === "" ? "" : `${path}.`;
    if (!Object.hasOwn(known, key)) faults.add(of + plain(key), "not in the policy: kept, not in force");
  }
}
function member(value, key) {
  return isObject$1(value) && Object.hasOwn(value, key) ? value[key] : void 0;
}
function membersOf(value) {
  return isObject$1(value) ? Object.entries(value) : [];
}
function mapValues(record, map) {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(value, key)]));
}
const MAX_THRESHOLDS = 8;
const DEFAULT_THRESHOLDS = [{ share: 0.8 }];
function thresholdsCheck() {
  return listOf(thresholdCheck(), 0, MAX_THRESHOLDS);
}
function areThresholds(value) {
  return v.safeParse(thresholdsCheck(), value).success;
}
function thresholdCheck() {
  const share = group({ share: where(isShare, "a share above 0 and up to 1 with at most two decimals") });
  const left = group({ left: wholeNumber(0, MAX_LIMIT, "tokens") });
  return v.lazy((value) => isObject$1(value) && Object.hasOwn(value, "left") ? left : share);
}
function isShare(value) {
  return typeof value === "number" && value > 0 && value <= 1 && hundredths(value) !== void 0;
}
const UNKNOWN = "not in the policy: kept, not in force";
function fitShadow(policy, stored, faults) {
  if (stored !== void 0 && !isObject$1(stored)) faults.add("shadow", "expected an object: no limit is shadowed");
  const fitted = [];
  for (const [layer, limits2] of membersOf(stored)) {
    const path = `shadow.${plain(layer)}`;
    if (!policy.layers.some(({ name }) => name === layer)) faults.add(path, UNKNOWN);
    else if (limits2 === "all") fitted.push([layer, limits2]);
    else if (Array.isArray(limits2)) fitted.push([layer, fitLabels(policy, limits2, path, faults)]);
    else faults.add(path, 'expected "all", or a list of limits: none is shadowed');
  }
  return Object.fromEntries(fitted);
}
function fitLabels(policy, labels, path, faults) {
  const known = limitLabels(policy);
  for (const label of labels) {
    if (!known.includes(label)) faults.add(path, `no limit ${shown(label)}: not in force`);
  }
  return known.filter((label) => labels.includes(label));
}
function fitPlans(policy, stored, faults) {
  if (stored !== void 0 && !isObject$1(stored))
    faults.add("plans", "expected an object: the plans of the policy apply");
  const plans = membersOf(stored).filter(([plan]) => wrongPlan(plan) === void 0);
  for (const [plan] of membersOf(stored)) {
    if (wrongPlan(plan) !== void 0) faults.add(`plans.${plain(plan)}`, "not a name: kept, not in force");
  }
  return Object.fromEntries(plans.map(([plan, table]) => [plan, fitPlan(policy, table, `plans.${plan}`, faults)]));
}
function fitPlan(policy, table, at, faults) {
  const isOwn = (layer) => policy.layers.some(({ name, shared }) => !shared && name === layer);
  const isCategory = (category) => policy.categories.includes(category);
  return fitMembers(
    table,
    at,
    faults,
    isOwn,
    (ofLayer, atLayer, layer) => fitMembers(ofLayer, atLayer, faults, isCategory, (ofCategory, atCategory, category) => {
      const isLabel = (label) => hasLimit(policy, layer, category, label);
      return fitMembers(ofCategory, atCategory, faults, isLabel, (limit2, atLabel) => {
        if (isLimit(limit2)) return limit2;
        faults.add(atLabel, "not a limit: what there is without it applies");
        return void 0;
      });
    })
  );
}
function fitMembers(value, at, faults, isKnown, take) {
  if (!isObject$1(value)) faults.add(at, "expected an object: not in force");
  const fitted = [];
  for (const [key, each] of membersOf(value)) {
    const path = `${at}.${plain(key)}`;
    if (!isKnown(key)) {
      faults.add(path, UNKNOWN);
      continue;
    }
    const taken = take(each, path, key);
    if (taken !== void 0) fitted.push([key, taken]);
  }
  return Object.fromEntries(fitted);
}
function fitThresholds(stored, faults) {
  if (stored === void 0 || stored === null) return null;
  if (areThresholds(stored)) return stored;
  faults.add("thresholds", "not a list of thresholds: those of the options apply");
  return null;
}
const MODES = ["conservative", "normal", "lenient", "adaptive", "custom"];
function initialSettings(policy) {
  const shared = policy.layers.filter((layer) => layer.shared);
  return {
    version: 0,
    revision: "",
    mode: "normal",
    base: policy.base,
    custom: null,
    layers: Object.fromEntries(shared.map(({ name }) => [name, { enabled: true, multiplier: 1 }])),
    prices: {},
    shadow: {},
    plans: {},
    thresholds: null
  };
}
function initialSubjectSettings(policy, layer) {
  const emptyOf = (category) => {
    const labels = limitLabels(policy).filter((label) => hasLimit(policy, layer, category, label));
    return Object.fromEntries(labels.map((label) => [label, null]));
  };
  return {
    version: 0,
    revision: "",
    overrides: Object.fromEntries(policy.categories.map((category) => [category, emptyOf(category)])),
    bypass: [],
    plan: null,
    until: { overrides: null, plan: null },
    anchor: null
  };
}
function fitSettings(policy, hasFactor, document) {
  const faults = new Faults();
  const own = initialSettings(policy);
  if (!isObject$1(document)) {
    faults.add("", "expected an object: the settings of the policy apply");
    return { settings: own, faults: faults.list };
  }
  strangers(document, own, "", faults);
  const mode = fitMode(member(document, "mode"), hasFactor, faults);
  const custom = member(document, "custom") ?? null;
  if (mode === "custom" && custom === null) faults.add("custom", "missing: the base limits of the policy apply");
  const settings = {
    mode,
    base: fitTable(policy, member(document, "base"), "base", faults),
    custom: custom === null ? customOf(mode, policy) : fitTable(policy, custom, "custom", faults),
    layers: fitLayers(own, member(document, "layers"), faults),
    prices: fitPrices(policy, member(document, "prices"), faults),
    shadow: fitShadow(policy, member(document, "shadow"), faults),
    plans: fitPlans(policy, member(document, "plans"), faults),
    thresholds: fitThresholds(member(document, "thresholds"), faults)
  };
  return { settings, faults: faults.list };
}
function fitMode(mode, hasFactor, faults) {
  if (!MODES.includes(mode)) {
    faults.add("mode", `expected one of ${MODES.join(", ")}: normal applies`);
    return "normal";
  }
  if (mode === "adaptive" && !hasFactor) {
    faults.add("mode", "this engine has no adaptive factor: normal applies");
    return "normal";
  }
  return mode;
}
function customOf(mode, policy) {
  return mode === "custom" ? policy.base : null;
}
function fitTable(policy, table, path, faults) {
  strangers(table, policy.base, path, faults);
  return mapValues(policy.base, (categories, layer) => {
    const ofLayer = member(table, layer);
    strangers(ofLayer, categories, `${path}.${layer}`, faults);
    return mapValues(categories, (windows, category) => {
      const ofCategory = member(ofLayer, category);
      strangers(ofCategory, windows, `${path}.${layer}.${category}`, faults);
      return mapValues(windows, (own, label) => {
        const value = member(ofCategory, label);
        if (isLimit(value)) return value;
        const what = value === void 0 ? "missing" : "not a limit";
        faults.add(`${path}.${layer}.${category}.${label}`, `${what}: the policy has ${own}, which applies`);
        return own;
      });
    });
  });
}
function fitLayers(own, layers, faults) {
  strangers(layers, own.layers, "layers", faults);
  return mapValues(own.layers, (defaults, name) => {
    const stored = member(layers, name);
    const enabled = member(stored, "enabled");
    const multiplier = member(stored, "multiplier");
    if (typeof enabled !== "boolean") faults.add(`layers.${name}.enabled`, "missing or not a boolean: on");
    if (!isMultiplier(multiplier)) faults.add(`layers.${name}.multiplier`, "missing or not a multiplier: 1 applies");
    return {
      enabled: typeof enabled === "boolean" ? enabled : defaults.enabled,
      multiplier: isMultiplier(multiplier) ? multiplier : defaults.multiplier
    };
  });
}
function fitPrices(policy, prices, faults) {
  strangers(prices, policy.operations, "prices", faults);
  const fitted = [];
  for (const operation of Object.keys(policy.operations)) {
    const price = member(prices, operation);
    if (isPrice(price)) fitted.push([operation, price]);
    else if (price !== void 0) faults.add(`prices.${operation}`, "not a price: that of the policy applies");
  }
  return Object.fromEntries(fitted);
}
const FORMATS = /* @__PURE__ */ new Map();
const PARTS = /^(\d+)\D(\d+)\D(\d+)\D+(\d+)\D(\d+)\D(\d+)$/;
function zonedText(instant, timeZone) {
  const text2 = formatOf(timeZone).format(Math.ceil(instant / 1e3) * 1e3);
  const [, month, day, year, hour, minute, second] = PARTS.exec(text2);
  return `${year.padStart(4, "0")}-${month}-${day} ${hour}:${minute}:${second}`;
}
function isTimeZone(name) {
  return FORMATS.has(name) || madeFormat(name) !== void 0;
}
function formatOf(timeZone) {
  const kept = FORMATS.get(timeZone);
  if (kept !== void 0) return kept;
  const made2 = madeFormat(timeZone);
  if (made2 === void 0) {
    const message = `timeZone: expected an IANA time zone, "Asia/Shanghai" for example, got ${shown(timeZone)}`;
    throw new QuotaError("invalid_options", message);
  }
  FORMATS.set(timeZone, made2);
  return made2;
}
function madeFormat(timeZone) {
  try {
    return new Intl.DateTimeFormat("en-US", {
      timeZone,
      calendar: "gregory",
      numberingSystem: "latn",
      hourCycle: "h23",
      year: "numeric",
      month: "2-digit",
      day: "2-digit",
      hour: "2-digit",
      minute: "2-digit",
      second: "2-digit"
    });
  } catch {
    return void 0;
  }
}
const CALENDAR_PERIODS = ["hour", "day", "week", "month", "year"];
const MIN_WINDOW_MS = 1e3;
const MAX_WINDOW_MS = 366 * 864e5;
const CLOSED = -1;
const MAX_USED = Number.MAX_SAFE_INTEGER;
const GRACE_MS = 6e4;
const NOT_OPEN = -1;
const MAX_AHEAD_MS = 5e3;
const LABEL = /^[A-Za-z0-9_-]{1,32}$/;
const TIME = /^(?:[01]\d|2[0-3]):[0-5]\d$/;
const A_ZONE = 'an IANA time zone, "Asia/Shanghai" for example';
const ANCHORED_BY = {
  hour: [],
  day: ["time"],
  week: ["time"],
  month: ["day", "time"],
  year: ["month", "day", "time"]
};
function anchorCheck() {
  return group({
    month: optional(wholeNumber(1, 12)),
    day: optional(wholeNumber(1, 31)),
    time: optional(textLike(TIME, 'a time of day from "00:00" to "23:59"'))
  });
}
function calendarWindowCheck() {
  const members = group({
    label: textLike(LABEL, "1 to 32 of A-Z a-z 0-9 _ -"),
    every: oneOf(...CALENDAR_PERIODS),
    timeZone: timeZoneCheck(),
    weekStartsOn: optional(wholeNumber(1, 7)),
    anchor: optional(windowAnchor())
  });
  return v.pipe(members, noNeedlessMembers());
}
function windowAnchor() {
  const own = anchorCheck();
  const subject = oneOf("subject");
  return v.lazy((value) => typeof value === "string" ? subject : own);
}
function noNeedlessMembers() {
  return v.rawCheck(({ dataset: { value }, addIssue }) => {
    const window = Object(value);
    if (!CALENDAR_PERIODS.includes(window.every)) return;
    for (const { keys, message } of needlessMembers(window)) addIssue({ message, path: pathTo(window, keys) });
  });
}
function needlessMembers({ every, weekStartsOn, anchor }) {
  const ofWeek = weekStartsOn === void 0 || every === "week" ? [] : [{ keys: ["weekStartsOn"], message: `is for every: "week" alone; this window is of every: "${every}"` }];
  if (anchor === void 0) return ofWeek;
  const heeded = ANCHORED_BY[every];
  if (heeded.length === 0)
    return [...ofWeek, { keys: ["anchor"], message: "an hour has none: it begins with the hour" }];
  const members = Object.entries(Object(anchor === "subject" ? {} : anchor));
  const needless = members.filter(([key, member2]) => member2 !== void 0 && isNeedless(key, heeded));
  return [...ofWeek, ...needless.map(([key]) => ({ keys: ["anchor", key], message: instead(every, key) }))];
}
function isNeedless(key, heeded) {
  return ANCHORED_BY.year.includes(key) && !heeded.includes(key);
}
function instead(every, key) {
  const message = `a ${every} is anchored by ${ANCHORED_BY[every].join(" and ")} alone`;
  return every === "week" && key === "day" ? `${message}; its first day is \`weekStartsOn\`` : message;
}
function pathTo(root, keys) {
  let input = root;
  const items = keys.map((key) => {
    const item = { type: "object", origin: "value", input, key, value: input[key] };
    input = item.value;
    return item;
  });
  return items;
}
function timeZoneCheck() {
  return v.custom(isZoneName, ({ input }) => {
    const meant = typeof input === "string" ? nearestZone(input) : void 0;
    return `${expectedText(A_ZONE, input)}${meant === void 0 ? "" : `; did you mean "${meant}"?`}`;
  });
}
function isZoneName(value) {
  if (typeof value !== "string" || !/^[A-Z]/.test(value) || !isTimeZone(value)) return false;
  const known = new Intl.DateTimeFormat("en-US", { timeZone: value }).resolvedOptions().timeZone;
  return known === value || known.toLowerCase() !== value.toLowerCase();
}
function nearestZone(name) {
  const zones = ["UTC", ...Intl.supportedValuesOf("timeZone")];
  const asWritten = nearest(name, zones);
  if (asWritten !== void 0 || name.includes("/")) return asWritten;
  const city = (zone) => zone.slice(zone.lastIndexOf("/") + 1);
  const nearestCity = nearest(name, zones.map(city));
  return zones.find((zone) => city(zone) === nearestCity);
}
const MAX_CHANGES = 32;
function fitAnchor(stored, depth = 0) {
  if (!isObject$1(stored) || depth > MAX_CHANGES) return void 0;
  const { was = null, changedAt, ...anchor } = stored;
  if (!v.is(anchorCheck(), anchor)) return void 0;
  if (changedAt === void 0) return anchor;
  const before = was === null ? null : fitAnchor(was, depth + 1);
  return isInstant(changedAt) && before !== void 0 ? { ...anchor, was: before, changedAt } : void 0;
}
function ownPeriodWindows({ windows }) {
  return windows.flatMap((window) => window.every !== void 0 && window.anchor === "subject" ? [window] : []);
}
function changedAnchor(stored, set, terms) {
  const isSame = ruleOf(stored) === ruleOf(set);
  const next = isSame ? { ...stored, ...set } : { ...set, was: stored, changedAt: terms.now };
  const isHeeded = terms.windows.length > 0;
  const shortest = isHeeded ? withoutNeedless(next, terms) : withLastChange(next);
  const isNothing = Object.keys(shortest).length === 0;
  return isNothing ? null : shortest;
}
function ruleOf(anchor) {
  const { month = 1, day = 1, time = "00:00" } = anchor ?? {};
  return `${month}-${day} ${time}`;
}
function plainOf({ was: _, changedAt: __, ...anchor }) {
  return anchor;
}
function withLastChange(anchor) {
  return anchor.changedAt === void 0 ? anchor : { ...anchor, was: anchor.was ? plainOf(anchor.was) : null };
}
function withoutNeedless(anchor, terms) {
  for (const shorter of shorterOnes(anchor)) if (areSame(shorter, anchor, terms)) return withoutNeedless(shorter, terms);
  return anchor;
}
function shorterOnes(anchor) {
  const { was = null, changedAt } = anchor;
  if (changedAt === void 0) return [];
  const skipped = was?.changedAt === void 0 ? [] : [{ ...anchor, was: was.was ?? null }];
  const deeper = was === null ? [] : shorterOnes(was).map((before) => ({ ...anchor, was: before }));
  return [plainOf(anchor), ...skipped, ...deeper];
}
function areSame(one, other, { windows, calendar, now }) {
  const periods = (anchor) => JSON.stringify(windows.map((window) => calendar?.periods(window, now, anchor)));
  return periods(one) === periods(other);
}
function fitSubjectSettings(policy, layer, document) {
  const faults = new Faults();
  const { version: _, revision: __, ...own } = initialSubjectSettings(policy, layer);
  if (!isObject$1(document)) {
    faults.add("", "expected an object: the defaults apply");
    return { settings: own, faults: faults.list };
  }
  strangers(document, own, "", faults);
  return {
    settings: {
      overrides: fitOverrides(own.overrides, member(document, "overrides"), faults),
      bypass: fitBypass(policy, member(document, "bypass"), faults),
      plan: fitPlanName(member(document, "plan"), faults),
      until: fitUntil(own.until, member(document, "until"), faults),
      anchor: fitOwnAnchor(member(document, "anchor"), faults)
    },
    faults: faults.list
  };
}
function fitOverrides(own, stored, faults) {
  const fitted = mapValues(own, (limits2, category) => {
    const ofCategory = member(stored, category);
    strangers(ofCategory, limits2, `overrides.${category}`, faults);
    return mapValues(limits2, (_none, label) => {
      const value = member(ofCategory, label) ?? null;
      if (value === null || isLimit(value)) return value;
      faults.add(`overrides.${category}.${label}`, "not a limit: the default applies");
      return null;
    });
  });
  strangers(stored, own, "overrides", faults);
  return fitted;
}
function fitPlanName(plan, faults) {
  if (plan === void 0 || plan === null) return null;
  if (typeof plan === "string") return plan;
  faults.add("plan", "not a name: none");
  return null;
}
function fitUntil(own, stored, faults) {
  strangers(stored, own, "until", faults);
  const fitInstant = (part) => {
    const value = member(stored, part) ?? null;
    if (value === null || isInstant(value)) return value;
    faults.add(`until.${part}`, "not an instant: without an end");
    return null;
  };
  return { overrides: fitInstant("overrides"), plan: fitInstant("plan") };
}
function fitOwnAnchor(stored, faults) {
  if (stored === void 0 || stored === null) return null;
  const anchor = fitAnchor(stored);
  if (anchor === void 0) faults.add("anchor", "not an anchor: periods begin at the calendar's beginning");
  return anchor ?? null;
}
function fitBypass(policy, bypass, faults) {
  if (bypass === void 0) return [];
  if (!Array.isArray(bypass)) {
    faults.add("bypass", "expected a list of shared layers: none is bypassed");
    return [];
  }
  const unknown = bypass.filter((name) => !isSharedLayer(policy, name));
  for (const name of unknown) faults.add("bypass", `no shared layer ${shown(name)}: not in force`);
  return [...new Set(bypass.filter((name) => isSharedLayer(policy, name)))];
}
function isSharedLayer(policy, name) {
  return policy.layers.some((layer) => layer.shared && layer.name === name);
}
function keepUnknown(policy, stored, next, change) {
  const mode = member(stored, "mode");
  const isKept = MODES.includes(mode) && !Object.hasOwn(change, "mode");
  const { prices, shadow, plans, thresholds: _, ...rest } = isObject$1(stored) ? stored : {};
  const settings = isKept ? { ...next, mode } : next;
  const isUnknownPrice = ([operation]) => !Object.hasOwn(policy.operations, operation);
  const unknown = {
    prices: Object.fromEntries(membersOf(prices).filter(isUnknownPrice)),
    shadow: unknownShadow(policy, shadow),
    plans: unknownPlans(policy, plans, next.plans)
  };
  const merged2 = overlay({ ...rest, ...unknown }, settings);
  return { ...merged2, shadow: joined(unknown.shadow, next.shadow) };
}
function keepUnknownOfSubject(policy, stored, next) {
  const bypass = member(stored, "bypass");
  const unknown = Array.isArray(bypass) ? bypass.filter((name) => !isSharedLayer(policy, name)) : [];
  const merged2 = overlay(stored, next);
  return { ...merged2, anchor: next.anchor, bypass: [...next.bypass, ...unknown] };
}
function unknownShadow(policy, shadow) {
  const known = limitLabels(policy);
  const kept = membersOf(shadow).flatMap(([layer, limits2]) => {
    if (!policy.layers.some(({ name }) => name === layer)) return [[layer, limits2]];
    const labels = Array.isArray(limits2) ? limits2.filter((label) => !known.includes(label)) : [];
    return labels.length === 0 ? [] : [[layer, labels]];
  });
  return Object.fromEntries(kept);
}
function joined(unknown, known) {
  const merged2 = new Map(Object.entries(unknown));
  for (const [layer, limits2] of Object.entries(known)) {
    const kept = merged2.get(layer);
    merged2.set(layer, Array.isArray(limits2) && Array.isArray(kept) ? [...limits2, ...kept] : limits2);
  }
  return Object.fromEntries(merged2);
}
function unknownPlans(policy, plans, next) {
  const isOwn = (layer) => policy.layers.some(({ name, shared }) => !shared && name === layer);
  const limitsOf = (table) => unknownMembers(
    table,
    isOwn,
    (ofLayer, layer) => unknownMembers(
      ofLayer,
      (category) => policy.categories.includes(category),
      (ofCategory, category) => unknownMembers(ofCategory, (label) => hasLimit(policy, layer, category, label), nothingUnknown)
    )
  );
  const isThere = (plan) => Object.hasOwn(next, plan) || wrongPlan(plan) !== void 0;
  const there = membersOf(plans).filter(([plan]) => isThere(plan));
  return Object.fromEntries(
    there.map(([plan, table]) => [plan, wrongPlan(plan) === void 0 ? limitsOf(table) : table])
  );
}
function unknownMembers(value, isKnown, inKnown) {
  const kept = membersOf(value).flatMap(([key, each]) => {
    if (!isKnown(key)) return [[key, each]];
    const unknown = inKnown(each, key);
    return unknown === void 0 || Object.keys(unknown).length === 0 ? [] : [[key, unknown]];
  });
  return Object.fromEntries(kept);
}
function nothingUnknown() {
  return void 0;
}
function overlay(below, above) {
  if (!isObject$1(below) || !isObject$1(above)) return above;
  const merged2 = new Map(Object.entries(below));
  for (const [key, value] of Object.entries(above)) merged2.set(key, overlay(merged2.get(key), value));
  return Object.fromEntries(merged2);
}
const MAX_KEY = 64;
function faultsOf(schema, document, words) {
  return checked(schema, document, words).faults ?? [];
}
function checked(schema, document, words = {}) {
  const { success, output, issues } = v.safeParse(schema, document, ALL_FAULTS);
  return success ? { value: output } : { faults: issues.map((issue) => faultOf(issue, words)) };
}
const ALL_FAULTS = { abortEarly: false, abortPipeEarly: false, message: textOf };
function faultOf(issue, words) {
  const key = issue.path?.at(-1);
  const isElsewhere = issue.expected === "never" && key?.origin === "key" && Object.hasOwn(words, String(key.key));
  return {
    path: pathOf(issue.path?.map((item) => item.key)),
    message: isElsewhere ? unknownKey(String(key.key), [], words) : issue.message
  };
}
function pathOf(path = []) {
  return path.map((part) => plain(String(part), MAX_KEY)).join(".");
}
function once(make) {
  let made2;
  return () => {
    made2 ??= { value: make() };
    return made2.value;
  };
}
const MAX_PLANS = 100;
function tableCheck(policy) {
  const limit2 = limitCheck();
  const layers = policy.layers.map(({ name }) => name);
  return eachKey(
    layers,
    (layer) => eachKey(
      policy.categories,
      (category) => eachKey(
        limitLabels(policy).filter((label) => hasLimit(policy, layer, category, label)),
        () => limit2
      )
    )
  );
}
function plansCheck(policy) {
  const limit2 = limitCheck();
  const plan = tableEach(
    (layer) => wrongLayer(policy, layer) ?? tableEach(
      (category) => wrongCategory(policy, category) ?? tableEach((label) => wrongLabel(policy, layer, category, label) ?? limit2, "an object of limits by label"),
      "an object of limits by category and label"
    ),
    "an object of limits by layer, category and label"
  );
  const plans = tableEach((name) => wrongPlan(name) ?? plan, "an object of limits by plan, layer, category and label");
  const count = v.check(
    (table) => Object.keys(table).length <= MAX_PLANS,
    `expected at most ${MAX_PLANS} plans`
  );
  return v.pipe(plans, count);
}
function wrongLayer({ layers }, name) {
  const own = layers.filter(({ shared }) => !shared).map((layer) => layer.name);
  if (own.includes(name)) return void 0;
  return layers.some((layer) => layer.name === name) ? `a shared layer: plans are for layers of each subject's own: ${listed(own)}` : `not a layer: ${noSuchName(name, own, "plans are for")}`;
}
function wrongCategory({ categories }, name) {
  return categories.includes(name) ? void 0 : `not a category: ${noSuchName(name, categories, "the policy has")}`;
}
function wrongLabel(policy, layer, category, label) {
  if (hasLimit(policy, layer, category, label)) return void 0;
  const labels = limitLabels(policy).filter((each) => hasLimit(policy, layer, category, each));
  return limitLabels(policy).includes(label) ? `the base has no such limit for ${layer} and ${category}` : `not a limit: ${noSuchName(label, labels, "there are")}`;
}
const A_MULTIPLIER = `a number from ${MIN_MULTIPLIER} to ${MAX_MULTIPLIER} with at most two decimals`;
function settingsCheck(policy, hasFactor) {
  const schema = once(() => settingsSchema(policy, hasFactor));
  return (document) => [...faultsOf(schema(), document), ...customFaults(document)];
}
function settingsSchema(policy, hasFactor) {
  const table = tableCheck(policy);
  const layer = group({ enabled: oneOf(true, false), multiplier: where(isMultiplier, A_MULTIPLIER) });
  return group({
    mode: modeSchema(hasFactor),
    base: table,
    custom: v.nullable(table),
    layers: eachKey(sharedNames(policy), () => layer),
    prices: pricesSchema(Object.keys(policy.operations)),
    shadow: shadowSchema(policy),
    plans: plansCheck(policy),
    thresholds: v.nullable(thresholdsCheck())
  });
}
function modeSchema(hasFactor) {
  const available = (mode) => hasFactor || mode !== "adaptive";
  return v.custom(
    (mode) => MODES.includes(mode) && available(mode),
    ({ input }) => available(input) ? expectedText(`one of ${MODES.join(", ")}`, input) : "not available: this engine has no adaptive factor"
  );
}
function customFaults(document) {
  const { mode, custom } = document ?? {};
  return mode === "custom" && custom === null ? [{ path: "custom", message: 'mode "custom" needs this table' }] : [];
}
function pricesSchema(operations) {
  const known = new Set(operations);
  const table = v.custom(isPlain, expectedKind("an object of prices by operation"));
  const prices = v.rawCheck(({ dataset, addIssue }) => {
    if (!dataset.typed) return;
    for (const [operation, cost] of Object.entries(dataset.value)) {
      const faults = [
        ...known.has(operation) ? [] : [`not an operation: ${noSuchName(operation, operations, "the policy has")}`],
        ...isPrice(cost) ? [] : [expectedText(A_PRICE, cost)]
      ];
      const path = { type: "object", origin: "value", input: dataset.value, key: operation, value: cost };
      for (const message of faults) addIssue({ message, path: [path] });
    }
  });
  return v.pipe(table, prices);
}
function shadowSchema(policy) {
  const layers = policy.layers.map(({ name }) => name);
  const labels = limitLabels(policy);
  const list = listOf(nameOf("a limit", labels), 0, labels.length);
  const all = where((value) => value === "all", `"all", or a list of limits: ${listed(labels)}`);
  const limits2 = v.lazy((value) => Array.isArray(value) ? list : all);
  return tableEach(
    (layer) => layers.includes(layer) ? limits2 : `not a layer: ${noSuchName(layer, layers, "the policy has")}`,
    "an object of limits by layer"
  );
}
function subjectSettingsFaults(policy, layer, document, plans) {
  const shared = sharedNames(policy);
  const override = where(
    (value) => value === null || isLimit(value),
    `${A_LIMIT}, "unlimited", or null to follow the default`
  );
  const sharedLayer = where(
    (value) => shared.includes(value),
    `the name of a shared layer: ${listed(shared)}`
  );
  const until = v.nullable(where(isInstant, "epoch milliseconds, or null for no end"));
  const schema = group({
    overrides: eachKey(
      policy.categories,
      (category) => eachKey(
        limitLabels(policy).filter((label) => hasLimit(policy, layer, category, label)),
        () => override
      )
    ),
    bypass: listOf(sharedLayer, 0, policy.layers.length),
    plan: v.nullable(nameOf("a plan", plans, "there are")),
    until: group({ overrides: until, plan: until }),
    anchor: v.nullable(anchorCheck())
  });
  return faultsOf(schema, document);
}
function sharedNames(policy) {
  return policy.layers.filter((layer) => layer.shared).map((layer) => layer.name);
}
function planNames(policy, settings) {
  return [.../* @__PURE__ */ new Set([...Object.keys(policy.plans ?? {}), ...Object.keys(settings.plans)])];
}
function planLimit(policy, settings, plan, layer, category, label) {
  const limitIn = (plans) => ownOf(ownOf(ownOf(ownOf(plans, plan), layer), category), label);
  return limitIn(settings.plans) ?? limitIn(policy.plans);
}
const MODE_HUNDREDTHS = {
  conservative: 75,
  normal: 100,
  lenient: 150
};
const ADAPTIVE_HUNDREDTHS = { min: 75, max: 150 };
function scaledLimit(base, modeHundredths, multiplierHundredths) {
  if (base === "unlimited") return Number.POSITIVE_INFINITY;
  if (base === 0) return 0;
  return Math.max(1, Math.floor(base * modeHundredths * multiplierHundredths / 1e4));
}
function effectiveQuotas(terms, of = {}) {
  const { policy, settings } = terms;
  const bypassed = new Set(Object.values(of.subjects ?? {}).flatMap((subject) => subject.bypass));
  const layers = policy.layers.flatMap(
    ({ name, shared }, index) => shared && (!settings.layers[name].enabled || bypassed.has(name)) ? [] : [index]
  );
  const table = modeTable(terms);
  const anchors = anchorsOf(terms, layers, of);
  return policy.categories.map((category) => {
    const effective = layers.flatMap((index) => layerLimits(terms, table, of, index, category));
    const decided = { layers, ...inShadow(terms, layers, category, effective) };
    return anchors === void 0 ? decided : { ...decided, anchors };
  });
}
function anchorsOf({ policy }, layers, { subjects }) {
  if (ownPeriodWindows(policy).length === 0) return void 0;
  const anchors = layers.map((index) => ownOf(subjects, policy.layers[index].name)?.anchor ?? null);
  return anchors.every((anchor) => anchor === null) ? void 0 : anchors;
}
function layerLimits({ policy, cells, settings }, { table, hundredths: mode }, { subjects, plan: requested }, layerIndex, category) {
  const { name, shared } = policy.layers[layerIndex];
  const multiplier = shared ? hundredths(settings.layers[name].multiplier) : 100;
  const subject = ownOf(subjects, name);
  const overrides = ownOf(subject?.overrides, category);
  const plan = shared ? void 0 : subject?.plan ?? requested;
  return cells.map(({ kind, label }) => {
    if (!hasLimit(policy, name, category, label)) return Number.POSITIVE_INFINITY;
    const override = ownOf(overrides, label) ?? null;
    if (override !== null) return scaledLimit(override, 100, 100);
    const planned = plan === void 0 ? void 0 : planLimit(policy, settings, plan, name, category, label);
    const value = planned ?? table[name][category][label];
    return kind === "concurrency" ? scaledLimit(value, 100, 100) : scaledLimit(value, mode, multiplier);
  });
}
function inShadow({ policy, cells, settings }, layers, category, effective) {
  if (Object.keys(settings.shadow).length === 0) return { limits: effective };
  const shadowed = effective.map((limit2, index) => {
    const { name } = policy.layers[layers[Math.floor(index / cells.length)]];
    const { label } = cells[index % cells.length];
    const inShade = ownOf(settings.shadow, name);
    const isShadowed = inShade === "all" || inShade?.includes(label) === true;
    return isShadowed && hasLimit(policy, name, category, label) ? limit2 : void 0;
  });
  if (shadowed.every((limit2) => limit2 === void 0)) return { limits: effective };
  const limits2 = effective.map((limit2, index) => shadowed[index] === void 0 ? limit2 : Number.POSITIVE_INFINITY);
  return { limits: limits2, shadowed };
}
function modeTable({ settings, factorHundredths }) {
  if (settings.mode === "custom") return { table: settings.custom, hundredths: 100 };
  if (settings.mode === "adaptive") return { table: settings.base, hundredths: factorHundredths };
  return { table: settings.base, hundredths: MODE_HUNDREDTHS[settings.mode] };
}
function priceOf(policy, settings, operation) {
  return ownOf(settings.prices, operation) ?? policy.operations[operation].cost;
}
function settingsWarnings(policy, settings) {
  const table = settings.mode === "custom" ? "custom" : "base";
  const terms = { policy, cells: policyCells(policy), settings, factorHundredths: ADAPTIVE_HUNDREDTHS.min };
  return [
    ...warningsOf(terms, void 0).map(({ path, message }) => ({ path: `${table}.${path}`, message })),
    ...planNames(policy, settings).flatMap(
      (plan) => warningsOf(terms, plan).map(({ path, message }) => ({ path: `plans.${plan}.${path}`, message }))
    )
  ];
}
function warningsOf(terms, plan) {
  const { policy, cells, settings } = terms;
  return effectiveQuotas(terms, { plan }).flatMap(({ layers, limits: limits2 }, categoryIndex) => {
    const category = policy.categories[categoryIndex];
    return layers.flatMap((layerIndex, slot) => {
      const layer = policy.layers[layerIndex].name;
      return limitLabels(policy).flatMap((label) => {
        const isLookedAt = plan === void 0 || planLimit(policy, settings, plan, layer, category, label) !== void 0;
        const cell = cells.findIndex((each) => each.label === label);
        const limit2 = limits2[slot * cells.length + cell];
        const message = isLookedAt ? warning(terms, category, cells[cell].kind, limit2) : void 0;
        return message === void 0 ? [] : [{ path: `${layer}.${category}.${label}`, message }];
      });
    });
  });
}
function warning({ policy, settings }, category, kind, limit2) {
  const operations = Object.keys(policy.operations).filter((name) => policy.operations[name].category === category);
  if (kind === "concurrency") {
    const stopped = limit2 === 0 ? operations.filter((name) => takesSlot(policy, name)) : [];
    return stopped.length === 0 ? void 0 : `a limit of 0 lets no work be under way of ${stopped.join(", ")}`;
  }
  const tooDear = operations.filter((name) => priceOf(policy, settings, name) > limit2);
  const where2 = settings.mode === "adaptive" ? ` at factor ${ADAPTIVE_HUNDREDTHS.min / 100}` : "";
  return tooDear.length === 0 ? void 0 : `the effective limit of ${limit2} tokens${where2} is below the price of ${tooDear.join(", ")}`;
}
function isObject(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
function mergePatch(target, patch, nulls = "remove-null") {
  if (!isObject(patch)) return patch;
  const merged2 = new Map(Object.entries(isObject(target) ? target : {}));
  for (const [key, value] of Object.entries(patch)) {
    if (value === void 0) continue;
    if (value === null && nulls === "remove-null") merged2.delete(key);
    else merged2.set(key, mergePatch(merged2.get(key), value, nulls));
  }
  return Object.fromEntries(merged2);
}
const MAX_TRIES = 10;
function versionOf({ version, revision }) {
  return { version, revision };
}
function checkVersion({ ifVersion, ifRevision }, stored) {
  const isStored = (ifVersion === void 0 || ifVersion === stored.version) && (ifRevision === void 0 || ifRevision === stored.revision);
  if (!isStored) throw conflict({ version: ifVersion ?? stored.version }, stored);
}
function conflict(expected2, stored) {
  const what = expected2.version === stored.version ? "but others than expected" : `not at ${expected2.version}`;
  const message = `the settings are at version ${stored.version}, ${what}: read them again and decide anew`;
  return new QuotaError("settings_conflict", message);
}
function settingsAdmin(policy, store, live, hasFactor) {
  const check2 = settingsCheck(policy, hasFactor);
  function fitted(stored) {
    if (stored === void 0) return initialSettings(policy);
    const { version, revision, document } = stored;
    return { ...fitSettings(policy, hasFactor, document).settings, version, revision };
  }
  async function write2(named, change, { ifVersion, ifRevision, by }) {
    for (let tries = 1; ; tries++) {
      const { value: stored } = await boxed(store, store.read());
      const { version, revision, ...current } = fitted(stored);
      checkVersion({ ifVersion, ifRevision }, { version, revision });
      const settings = change(current);
      const faults = check2(settings);
      if (faults.length > 0) throw faultyDocument("invalid_settings", "settings", faults);
      const document = structuredClone(keepUnknown(policy, stored?.document, settings, named));
      const { value: reply } = await boxed(store, store.write(document, { ifRevision: revision, by }));
      if (reply.written) {
        await live.wrote({ document, ...versionOf(reply) });
        return { settings: { ...settings, ...versionOf(reply) }, warnings: settingsWarnings(policy, settings) };
      }
      if (tries === MAX_TRIES) throw conflict({ version }, reply);
    }
  }
  return {
    get: async () => fitted((await boxed(store, store.read())).value),
    async faults() {
      const { value: stored } = await boxed(store, store.read());
      return stored === void 0 ? [] : fitSettings(policy, hasFactor, stored.document).faults;
    },
    update: (patch, options = {}) => write2(patch, (current) => mergedSettings(current, patch), options),
    replace: (settings, options = {}) => write2(settings, () => structuredClone(settings), options)
  };
}
const NULLABLE = ["custom", "thresholds"];
function mergedSettings(current, patch) {
  const nulls = NULLABLE.filter((member2) => patch[member2] === null).map((member2) => [member2, null]);
  return { ...mergePatch(current, patch), ...Object.fromEntries(nulls) };
}
function subjectAdmin({ policy, store, live, settings, clock, calendar }) {
  const own = policy.layers.filter((layer) => !layer.shared).map((layer) => layer.name);
  const windows = ownPeriodWindows(policy);
  function layerOf(key, layer = own[0]) {
    checkText(key, "invalid_subject", "subject");
    if (own.includes(layer)) return layer;
    const message = `no settings for single subjects in layer ${shown(layer)}; layers that have them: ${own.join(", ")}`;
    throw new QuotaError("invalid_subject", message);
  }
  function fitted(layer, stored) {
    if (stored === void 0) return initialSubjectSettings(policy, layer);
    return { ...fitSubjectSettings(policy, layer, stored.document).settings, ...versionOf(stored) };
  }
  async function write2(layer, key, change, { ifVersion, ifRevision, by }) {
    for (let tries = 1; ; tries++) {
      const { value: stored } = await boxed(store, store.readSubject(layer, key));
      const { version, revision, ...current } = fitted(layer, stored);
      checkVersion({ ifVersion, ifRevision }, { version, revision });
      const written2 = change(current);
      const document = written2 && structuredClone(keepUnknownOfSubject(policy, stored?.document, written2));
      const answer = store.writeSubject(layer, key, document, { ifRevision: revision, by });
      const { value: reply } = await boxed(store, answer);
      if (reply.written) {
        live.wroteSubject(layer, key);
        return { written: written2, ...versionOf(reply) };
      }
      if (tries === MAX_TRIES) throw conflict({ version }, reply);
    }
  }
  async function checked2(layer, patch) {
    const { version: _, revision: __, ...empty } = initialSubjectSettings(policy, layer);
    const { anchor = null, ...document } = filled(empty, patch);
    const next = { ...document, anchor: withoutHistory(anchor) };
    const plans = next.plan === null ? [] : planNames(policy, await settings.get());
    const faults = subjectSettingsFaults(policy, layer, next, plans);
    if (faults.length > 0) throw faultyDocument("invalid_settings", "settings of a subject", faults);
    return next;
  }
  return {
    async get(key, { layer: named } = {}) {
      const layer = layerOf(key, named);
      return fitted(layer, (await boxed(store, store.readSubject(layer, key))).value);
    },
    async set(key, patch, options = {}) {
      const layer = layerOf(key, options.layer);
      const next = await checked2(layer, patch);
      const anchored2 = (stored) => {
        const terms = { windows, calendar, now: clock.now() };
        return { ...next, anchor: changedAnchor(stored.anchor, next.anchor, terms) };
      };
      const { written: written2, ...version } = await write2(layer, key, anchored2, options);
      return { ...written2, ...version };
    },
    async remove(key, options = {}) {
      await write2(layerOf(key, options.layer), key, () => null, options);
    }
  };
}
function withoutHistory(anchor) {
  if (!isObject$1(anchor)) return anchor;
  const { was: _, changedAt: __, ...plain2 } = anchor;
  return plain2;
}
function filled(empty, patch) {
  return mergePatch(empty, patch, "keep-null");
}
const NOT_DONE = Symbol.for("@scoregw/quota/not-done");
function notDone(error) {
  Object.defineProperty(error, NOT_DONE, { value: true });
  return error;
}
function isNotDone(error) {
  return typeof error === "object" && error !== null && NOT_DONE in error;
}
function unavailable(cause, asked = "the quota store") {
  if (cause instanceof QuotaError && cause.code === "quota_unavailable") return cause;
  const error = new QuotaError("quota_unavailable", `${asked} did not answer${reasonOf(cause)}`, { cause });
  return isNotDone(cause) ? notDone(error) : error;
}
function reasonOf(cause) {
  return cause instanceof QuotaError ? `: ${cause.message}` : "";
}
function askNow(ask, asked) {
  try {
    return ask();
  } catch (error) {
    throw unavailable(error, asked);
  }
}
async function askLater(ask, asked) {
  try {
    return await ask();
  } catch (error) {
    throw unavailable(error, asked);
  }
}
class Engine {
  policy;
  holdTtlMs;
  settings;
  subjects;
  holds;
  parts;
  #watch;
  #closing;
  constructor(parts) {
    const { policy, settingsStore: store, live, factorStore, clock, calendar } = parts;
    this.parts = parts;
    this.policy = policy;
    this.holdTtlMs = parts.check.holdTtlMs;
    this.settings = settingsAdmin(policy, store, live, factorStore !== void 0);
    this.holds = {
      list: async (subject) => (await this.#openHolds(subject)).map((hold) => shownHold(policy, hold)),
      release: (subject, ref2) => this.#release(subject, ref2),
      sweep: () => this.#sweep()
    };
    this.#watch = new HoldWatch(() => this.#sweep());
    this.subjects = subjectAdmin({ policy, store, live, settings: this.settings, clock, calendar });
  }
  async run(request, work) {
    const reservation = await this.reserve(request);
    if (reservation.status === "refused") return { allowed: false, status: "refused", decision: reservation.decision };
    if (reservation.status !== "reserved") return { allowed: false, status: reservation.status };
    const stop = reservation.keepAlive();
    let value;
    try {
      value = await work(reservation);
    } catch (error) {
      stop();
      await reservation.cancel().catch(() => void 0);
      throw error;
    }
    stop();
    await reservation.commit();
    return { allowed: true, decision: reservation.decision, value };
  }
  async resume(token) {
    this.requireOpen();
    const { check: check2, live } = this.parts;
    const { subject, category, operation, plan, id, nonce, fingerprint, slot, ttlMs } = holdOfToken(token);
    const index = this.policy.categories.indexOf(category);
    if (index === -1 || !Object.hasOwn(this.policy.operations, operation)) {
      const message = `token: a hold of "${operation}" in "${category}", which this policy does not have`;
      throw new QuotaError("invalid_token", message);
    }
    check2.subject(subject);
    await askLater(() => live.ready(), "the settings store");
    const asked = { subject, operation, category: index, cost: 0, slot, plan };
    const reservationId = { id, nonce, fingerprint, ttlMs: check2.idTtlMs };
    const look = { subject, category: index, id: reservationId, ttlMs: 0 };
    const { outcome, now, endsAt = now } = await this.askHolds((holds) => holds.extend(look));
    if (outcome === "unknown") {
      throw new QuotaError("reservation_expired", "nothing is known of this hold, or not any more");
    }
    const hold = this.parts.held(asked, reservationId, ttlMs, endsAt);
    return Object.assign(this.holdCalls(hold), { status: "resumed", token, subject, operation });
  }
  async reset(subject, { layer, category } = {}) {
    this.requireOpen();
    const layers = this.policy.layers.flatMap(
      ({ name, shared }, index) => (layer === void 0 ? !shared : name === layer) ? [index] : []
    );
    const categories = this.policy.categories.flatMap(
      (name, index) => category === void 0 || name === category ? [index] : []
    );
    const layerNames = this.policy.layers.map(({ name }) => name);
    if (layers.length === 0) throw noSuch("layer", layer, layerNames);
    if (categories.length === 0) throw noSuch("category", category, this.policy.categories);
    this.parts.check.subject(subject);
    await askLater(() => this.closeWindows({ subject, layers, categories }));
  }
  /** Engines whose store has transactions say otherwise. */
  within(_transaction) {
    this.requireOpen();
    const message = "within: this store has no transactions; see what each store can in its page";
    throw new QuotaError("store_unsupported", message);
  }
  inForce() {
    const { live } = this.parts;
    return { settings: live.compiled.settings, adaptiveFactor: live.factorHundredths / 100 };
  }
  on(event, listener) {
    const off = this.parts.events.on(event, listener);
    if (event === "holdEnded" && this.parts.store.can?.holds === true) this.#watch.start();
    return () => {
      off();
      if (!this.parts.events.hears("holdEnded")) this.#watch.stop();
    };
  }
  async ready() {
    this.requireOpen();
    await askLater(() => this.parts.live.ready(), "the settings store");
    await this.parts.live.factorSettled();
  }
  close() {
    this.#watch.stop();
    this.#closing ??= this.parts.close();
    return this.#closing;
  }
  async #openHolds(subject) {
    this.requireOpen();
    this.parts.check.subject(subject);
    return (await this.askHolds((holds) => holds.list({ subject }))).holds;
  }
  async #release(subject, ref2) {
    const { categories } = this.policy;
    const found = (await this.#openHolds(subject)).find(
      ({ category: category2, id: id2 }) => holdRef(categories[category2], id2) === ref2
    );
    if (found === void 0) return false;
    const { category, id, nonce, fingerprint } = found;
    const reservationId = { id, nonce, fingerprint, ttlMs: this.parts.check.idTtlMs };
    const quotas = { layers: [], limits: [] };
    await this.askHolds(
      (holds) => holds.settle({
        subject,
        category,
        id: reservationId,
        as: "cancelled",
        overrun: "refuse",
        maxOverrun: 0,
        quotas
      })
    );
    return true;
  }
  async #sweep() {
    this.requireOpen();
    const { ended, open } = await this.askHolds((holds) => holds.sweep());
    const shown2 = ended.map(shownEnd);
    for (const end of shown2) this.parts.events.tell("holdEnded", end);
    return { open, ended: shown2 };
  }
  /** @throws {QuotaError} `holds_unsupported` */
  requireHolds(holds) {
    if (holds !== void 0) return holds;
    throw new QuotaError("holds_unsupported", "this store has no holds; see what each store can in its page");
  }
  requireOpen() {
    if (this.#closing !== void 0) throw new QuotaError("quota_closed", "this engine was closed: close it last");
  }
}
function noSuch(what, name, names) {
  return new QuotaError("invalid_reset", `no ${what} ${noSuchName(name, names, "the policy has")}`);
}
const PERIOD_NUMBERS = 3;
class Layout {
  /** In the order of a row: see {@link inRowOrder}. */
  cells;
  /** What the cells are recognised by, in the order of a row. */
  identities;
  /** The list of identities as one text, which rows that outlive a policy name by its {@link hash}. */
  list;
  /** {@link hash32} of {@link list}. */
  hash;
  /** After how long each window has surely ended, in the order of a row; see {@link CellSchema.lengthMs}. */
  lengthsMs;
  /** Cells of a row. */
  size;
  /** Windows of a row, rolling ones and those of the calendar. */
  width;
  /** Whether a row's last cell counts slots. */
  hasSlots;
  /** Numbers of a row. */
  rowCells;
  /** The calendar windows by their places in a row; a request tells their periods in this order. */
  calendars;
  #rolling;
  /** @param cells in the order of a row */
  constructor(cells) {
    this.cells = cells;
    this.identities = cells.map(({ identity }) => identity);
    this.list = this.identities.join("\n");
    this.hash = hash32(this.list);
    this.size = cells.length;
    this.hasSlots = cells.at(-1)?.kind === "concurrency";
    this.width = this.hasSlots ? cells.length - 1 : cells.length;
    this.lengthsMs = cells.slice(0, this.width).map(({ lengthMs }) => lengthMs);
    this.rowCells = 2 * cells.length;
    this.calendars = this.lengthsMs.flatMap((_, window) => cells[window].kind === "calendar" ? [window] : []);
    this.#rolling = { lengthsMs: this.lengthsMs, agesMs: this.lengthsMs.map(() => 0) };
  }
  /** Where the row of the `slot`th layer that applies begins in a state. */
  rowAt(slot) {
    return slot * this.rowCells;
  }
  /** Where a cell's start stands in a state; what it used is the next number. */
  cellAt(slot, cell) {
    return 2 * (slot * this.size + cell);
  }
  /** Where a cell's limit stands among those of the layers that apply. */
  limitAt(slot, cell) {
    return slot * this.size + cell;
  }
  /** Where the periods of the `slot`th layer that applies begin among those of a request. */
  periodsAt(slot) {
    return PERIOD_NUMBERS * slot * this.calendars.length;
  }
  /** The `slot`th row of a state. */
  rowOf(state, slot) {
    return state.slice(this.rowAt(slot), this.rowAt(slot + 1));
  }
  /** The limits of the `slot`th layer that applies. */
  limitsOf(limits2, slot) {
    return limits2.slice(this.limitAt(slot, 0), this.limitAt(slot + 1, 0));
  }
  /** The starts of a state's cells. */
  startsOf(state) {
    return state.filter((_, index) => index % 2 === 0);
  }
  /**
   * The spans of a row's windows at an instant; `undefined` where a calendar window is in neither of the two periods that
   * the request knows.
   *
   * @param periods of each calendar window of each layer that applies in turn: see {@link PERIOD_NUMBERS}
   * @param slot the row's place among the layers that apply
   */
  spansAt(now, periods, slot) {
    if (this.calendars.length === 0) return this.#rolling;
    const lengthsMs = this.lengthsMs.slice();
    const agesMs = this.#rolling.agesMs.slice();
    for (const [index, window] of this.calendars.entries()) {
      const period = periodAt(now, periods, this.periodsAt(slot) + PERIOD_NUMBERS * index);
      if (period === void 0) return void 0;
      agesMs[window] = now - period.start;
      lengthsMs[window] = now - period.start + 1;
    }
    return { lengthsMs, agesMs };
  }
}
function periodAt(now, periods, at) {
  const [start, end, next] = [periods?.[at], periods?.[at + 1], periods?.[at + 2]];
  if (start === void 0 || end === void 0 || next === void 0) return void 0;
  if (now >= start && now < end) return { start, end };
  return now >= end && now < next ? { start: end, end: next } : void 0;
}
function eachLimit({ layout, shownAs }, { layers }, visit) {
  for (let slot = 0; slot < layers.length; slot++) {
    for (const cell of shownAs[layers[slot]]) visit(slot, cell, layout.limitAt(slot, cell));
  }
}
function lastingOf({ layout }, slot, cell, looked) {
  const { kind, lengthMs } = layout.cells[cell];
  const startedAt = looked.states[layout.cellAt(slot, cell)] ?? NOT_OPEN;
  if (kind === "rolling") return { lengthMs, resetAt: startedAt === NOT_OPEN ? void 0 : startedAt + lengthMs };
  if (kind === "concurrency") return { lengthMs: null, resetAt: void 0 };
  const period = periodOf(layout, cell, slot, startedAt, looked.now, looked.periods);
  return { lengthMs: period === void 0 ? null : period.end - period.start, resetAt: period?.end };
}
function periodOf(layout, cell, slot, startedAt, now, periods) {
  const at = layout.periodsAt(slot) + PERIOD_NUMBERS * layout.calendars.indexOf(cell);
  return periodAt(Math.max(now, startedAt), periods, at) ?? periodAt(now, periods, at);
}
function admits({ layout }, { quotas, states }, { cost, slot }) {
  const { limits: limits2, layers } = quotas;
  for (let l = 0; l < layers.length; l++) {
    for (let c = 0; c < layout.size; c++) {
      const at = layout.limitAt(l, c);
      const needed = c < layout.width ? cost : Number(slot);
      if (needed > 0 && states[2 * at + 1] + needed > limits2[at]) return false;
    }
  }
  return true;
}
function violationsOf(frame, looked, needed, which = "enforced", isCharged = false) {
  const { layout, layers, category } = frame;
  const { now, quotas, states } = looked;
  const violations = [];
  eachLimit(frame, quotas, (slot, cell, at) => {
    const { kind, label } = layout.cells[cell];
    const requested = kind === "concurrency" ? Number(needed.slot) : needed.cost;
    const shadowed = quotas.shadowed?.[at];
    const limit2 = which === "shadowed" ? shadowed : quotas.limits[at];
    if (limit2 === void 0 || requested === 0) return;
    const used = isCharged ? states[2 * at + 1] - requested : states[2 * at + 1];
    if (used + requested <= limit2) return;
    const { lengthMs, resetAt: end } = lastingOf(frame, slot, cell, looked);
    const { name, scope } = layers[quotas.layers[slot]];
    violations.push({
      layer: name,
      scope,
      category,
      window: label,
      kind,
      lengthMs,
      limit: limit2,
      used,
      requested,
      resetAt: kind === "concurrency" ? now + SLOT_RETRY_MS : end ?? now + lengthMs,
      retryable: requested <= limit2
    });
  });
  return violations;
}
const SLOT_RETRY_MS = 1e3;
function bindingViolation(violations, layers) {
  const rank = (violation) => layers.findIndex(({ name }) => name === violation.layer);
  const [binding] = [...violations].sort(
    (a, b) => Number(a.retryable) - Number(b.retryable) || Number(a.kind === "concurrency") - Number(b.kind === "concurrency") || b.resetAt - a.resetAt || rank(a) - rank(b) || (b.lengthMs ?? 0) - (a.lengthMs ?? 0)
  );
  return binding;
}
function retryAfterSeconds(resetAt, now) {
  return Math.max(1, Math.ceil((resetAt - now) / 1e3));
}
function windowStatuses(frame, looked) {
  const { layout, layers, category } = frame;
  const { quotas, states } = looked;
  const windows = [];
  eachLimit(frame, quotas, (slot, cell, at) => {
    const { kind, label } = layout.cells[cell];
    const { name, scope } = layers[quotas.layers[slot]];
    const { lengthMs, resetAt } = lastingOf(frame, slot, cell, looked);
    const shadowed = quotas.shadowed?.[at];
    const limit2 = shadowed ?? quotas.limits[at];
    const startedAt = states[2 * at] ?? NOT_OPEN;
    const used = states[2 * at + 1] ?? 0;
    windows.push({
      layer: name,
      scope,
      category,
      window: label,
      kind,
      lengthMs,
      limit: finite(limit2),
      used,
      remaining: finite(Math.max(0, limit2 - used)),
      startedAt: kind === "concurrency" || startedAt === NOT_OPEN ? null : startedAt,
      resetAt: resetAt ?? null,
      enforced: shadowed === void 0
    });
  });
  return windows;
}
function uncountedWindows(frame, looked) {
  const counts = { used: null, remaining: null, startedAt: null, resetAt: null };
  return windowStatuses(frame, { ...looked, states: [] }).map((window) => ({ ...window, ...counts }));
}
function finite(tokens) {
  return tokens === Number.POSITIVE_INFINITY ? "unlimited" : tokens;
}
const NONE$1 = [];
class Outcome {
  static frameOf(decision) {
    return #frame in decision ? decision.#frame : void 0;
  }
  static countedOf(decision) {
    return #counted in decision ? decision.#counted : void 0;
  }
  allowed;
  subject;
  operation;
  category;
  cost;
  now;
  settingsVersion;
  source;
  #frame;
  #counted;
  #slot;
  constructor(asked, counted, frame, source, allowed) {
    this.allowed = allowed;
    this.subject = asked.subject;
    this.operation = asked.operation;
    this.category = frame.category;
    this.cost = asked.cost;
    this.now = counted.now;
    this.settingsVersion = counted.settingsVersion;
    this.source = source;
    this.#frame = frame;
    this.#counted = counted;
    this.#slot = asked.slot;
  }
  /** Worked out when it is looked at: most decisions are asked whether they admit, and nothing more. */
  get windows() {
    return this.source === "store" ? windowStatuses(this.#frame, this.#counted) : uncountedWindows(this.#frame, this.#counted);
  }
  /** As {@link windows}. */
  get shadowed() {
    const { quotas, isLook } = this.#counted;
    if (quotas.shadowed === void 0 || this.source !== "store") return NONE$1;
    const isCharged = this.allowed && isLook !== true;
    return violationsOf(this.#frame, this.#counted, { cost: this.cost, slot: this.#slot }, "shadowed", isCharged);
  }
  toJSON() {
    return { ...this, shadowed: this.shadowed, windows: this.windows };
  }
}
class Refusal extends Outcome {
  #asked;
  #counted;
  #frame;
  #violations;
  #binding;
  constructor(asked, counted, frame) {
    super(asked, counted, frame, "store", false);
    this.#asked = asked;
    this.#counted = counted;
    this.#frame = frame;
  }
  get violations() {
    this.#violations ??= violationsOf(this.#frame, this.#counted, this.#asked);
    return this.#violations;
  }
  get binding() {
    this.#binding ??= bindingViolation(this.violations, this.#frame.layers);
    return this.#binding;
  }
  get retryable() {
    return this.binding.retryable;
  }
  get resetAt() {
    return this.binding.resetAt;
  }
  get retryAfterMs() {
    return Math.max(1, this.resetAt - this.now);
  }
  get retryAfterSeconds() {
    return retryAfterSeconds(this.resetAt, this.now);
  }
  toJSON() {
    const { violations, binding, retryable, resetAt } = this;
    const wait = { retryAfterMs: this.retryAfterMs, retryAfterSeconds: this.retryAfterSeconds };
    return { ...super.toJSON(), violations, binding, retryable, resetAt, ...wait };
  }
}
function frameOf(decision) {
  return Outcome.frameOf(decision);
}
function countedOf(decision) {
  return Outcome.countedOf(decision);
}
function admitted(asked, counted, frame, source) {
  return new Outcome(asked, counted, frame, source, true);
}
function refused(asked, counted, frame) {
  return new Refusal(asked, counted, frame);
}
class HeldTokens {
  asked;
  token;
  /** When it ends, as last heard. */
  endsAt;
  #parts;
  #ref;
  #ttlMs;
  /** @param asked its `cost` is what was reserved, as far as this process knows */
  constructor(parts, asked, id, ttlMs, endsAt) {
    const { subject, category, operation, plan, slot } = asked;
    const { id: text2, nonce, fingerprint } = id;
    const name = { subject, category: parts.frames[category].category, operation, plan, id: text2, nonce, fingerprint };
    this.asked = asked;
    this.token = holdToken({ ...name, slot, ttlMs });
    this.endsAt = endsAt;
    this.#parts = parts;
    this.#ref = { subject, category, id };
    this.#ttlMs = ttlMs;
  }
  get ttlMs() {
    return this.#ttlMs;
  }
  /** @throws {QuotaError} `invalid_ttl` */
  extendRequest(ttlMs = this.#ttlMs) {
    return { ...this.#ref, ttlMs: this.#parts.check.ttl(ttlMs) };
  }
  /** @throws {QuotaError} `reservation_expired` */
  extended({ outcome, endsAt }) {
    if (outcome !== "held" || endsAt === void 0) throw this.#gone(outcome);
    this.endsAt = endsAt;
    return endsAt;
  }
  /** @throws {QuotaError} `invalid_cost` */
  growRequest(tokens, quotas) {
    checkTokens(tokens, "add", 1);
    const { periods, live } = this.#parts;
    return { ...this.#ref, tokens, quotas, periods: periods.of(quotas), settingsRevision: live.revision };
  }
  /** @throws {QuotaError} `reservation_expired` */
  grown({ tokens, quotas, periods }, { outcome, now, states }) {
    if (outcome !== "held" && outcome !== "refused") throw this.#gone(outcome);
    const { frames, live, telling } = this.#parts;
    const asked = { ...this.asked, cost: tokens, slot: false };
    const counted = { now, states, quotas, periods, settingsVersion: live.compiled.settings.version };
    const frame = frames[asked.category];
    const decision = outcome === "held" ? admitted(asked, counted, frame, "store") : refused(asked, counted, frame);
    telling.decided(decision, asked, void 0);
    return decision;
  }
  /** @throws {QuotaError} `invalid_cost` */
  checkSettle(actual) {
    if (actual !== void 0) checkTokens(actual, "commit", 0);
  }
  settleRequest(as, actual, quotas) {
    const { periods, live } = this.#parts;
    const { overrun, maxOverrun } = live.compiled.operations.get(this.asked.operation);
    return { ...this.#ref, as, actual, overrun, maxOverrun, quotas, periods: periods.of(quotas) };
  }
  /** @throws {QuotaError} `commit_above_reservation`, `reservation_expired`, `reservation_cancelled` */
  settled({ as, actual, quotas, periods }, reply) {
    const { outcome, charged, uncharged, reserved, now, states } = reply;
    if (as === "cancelled") return NOTHING$2;
    if (outcome === "above") throw commitAbove(actual, reserved, "the operation has no `overrun`");
    if (outcome === "cancelled") {
      throw new QuotaError("reservation_cancelled", `commit: this hold of "${this.asked.operation}" was cancelled`);
    }
    if (outcome !== "settled") throw this.#gone("expired");
    if (charged + uncharged > reserved) {
      const { telling, frames, live } = this.#parts;
      const { subject, operation, category } = this.asked;
      const frame = frames[category];
      const counted = { now, states, quotas, periods, settingsVersion: live.compiled.settings.version };
      const excess = admitted({ ...this.asked, cost: charged - reserved, slot: false }, counted, frame, "store");
      const overrun = { subject, operation, category: frame.category, charged, uncharged, reserved };
      telling.overrun(overrun, states.length === 0 ? void 0 : excess);
    }
    return { charged, uncharged };
  }
  #gone(outcome) {
    const { operation } = this.asked;
    if (outcome === "settled") {
      return new QuotaError("reservation_expired", `this hold of "${operation}" was committed or cancelled already`);
    }
    const message = `this hold of "${operation}" has ended, and its tokens went back: extend it while the work lasts`;
    return new QuotaError("reservation_expired", message);
  }
}
const NOTHING$2 = { charged: 0, uncharged: 0 };
function commitAbove(actual, reserved, why) {
  const message = `commit: ${actual} tokens are more than the ${reserved} reserved, and ${why}; reserve the most the work may cost, or add()`;
  return new QuotaError("commit_above_reservation", message);
}
const EXTEND_AFTER = 1 / 3;
const MAX_TIMER_MS = 2 ** 31 - 1;
function keepAlive(extend, ttlMs, isSettled) {
  const everyMs = Math.min(Math.max(1, Math.floor(ttlMs * EXTEND_AFTER)), MAX_TIMER_MS);
  const timer = setInterval(() => {
    if (isSettled()) stop();
    else extend().catch(endIfExpired);
  }, everyMs);
  timer.unref?.();
  function stop() {
    clearInterval(timer);
  }
  function endIfExpired(error) {
    if (error instanceof QuotaError && error.code === "reservation_expired") stop();
  }
  return stop;
}
class PlainReservation {
  status = "reserved";
  allowed = true;
  decision;
  token;
  endsAt;
  #owner;
  #reserved;
  #result;
  /** A settle that nobody knows the outcome of. */
  #failure;
  constructor(owner, reserved) {
    this.decision = reserved.decision;
    this.#owner = owner;
    this.#reserved = reserved;
  }
  commit(actual) {
    return this.#settle("committed", actual);
  }
  cancel() {
    this.#settle("cancelled", void 0);
  }
  extend(ttlMs) {
    return this.#owner.extend(this.#reserved, ttlMs);
  }
  add(tokens) {
    return this.#owner.add(this.#reserved, tokens);
  }
  keepAlive() {
    return () => void 0;
  }
  #settle(as, actual) {
    this.#owner.check(this.#reserved, as, actual);
    if (this.#failure !== void 0) throw this.#failure.error;
    if (this.#result !== void 0) return this.#result;
    try {
      this.#result = this.#owner.settle(this.#reserved, as, actual);
    } catch (error) {
      if (!mayRepeat(this.#reserved.hasId)(error)) this.#failure = { error };
      throw error;
    }
    return this.#result;
  }
}
function callsNow(work) {
  let settled;
  function settle(as, actual) {
    work.check(as, actual);
    if (settled === void 0) {
      try {
        settled = { result: work.settle(as, actual) };
      } catch (error) {
        if (!work.mayRepeat(error)) settled = { error };
        throw error;
      }
    }
    if ("error" in settled) throw settled.error;
    return settled.result;
  }
  const isSettled = () => settled !== void 0;
  return Object.assign(
    seen(work, async (ttlMs) => work.extend(ttlMs), isSettled),
    {
      commit: (actual) => settle("committed", actual),
      cancel: () => void settle("cancelled"),
      extend: (ttlMs) => work.extend(ttlMs),
      add: (tokens) => work.add(tokens)
    }
  );
}
function callsLater(work) {
  let settling;
  function settle(as, actual) {
    work.check(as, actual);
    if (settling !== void 0) return settling;
    const mine = work.settle(as, actual);
    settling = mine;
    mine.catch((error) => {
      if (work.mayRepeat(error)) settling = void 0;
    });
    return mine;
  }
  const isSettled = () => settling !== void 0;
  return Object.assign(seen(work, work.extend, isSettled), {
    commit: async (actual) => settle("committed", actual),
    cancel: async () => void await settle("cancelled"),
    extend: async (ttlMs) => work.extend(ttlMs),
    add: async (tokens) => work.add(tokens)
  });
}
function awaitedCalls(calls) {
  return {
    token: calls.token,
    // It moves.
    get endsAt() {
      return calls.endsAt;
    },
    keepAlive: () => calls.keepAlive(),
    commit: async (actual) => calls.commit(actual),
    cancel: async () => calls.cancel(),
    extend: async (ttlMs) => calls.extend(ttlMs),
    add: async (tokens) => calls.add(tokens)
  };
}
function seen({ hold }, extend, isSettled) {
  return {
    token: hold?.token,
    get endsAt() {
      return hold?.endsAt;
    },
    keepAlive: () => hold === void 0 ? () => void 0 : keepAlive(() => extend(void 0), hold.ttlMs, isSettled)
  };
}
function giveBackOfPlain(as, cost, actual = cost) {
  if (as === "cancelled") return { giveBack: cost, uncharged: 0 };
  checkTokens(actual, "commit", 0);
  if (actual > cost) throw commitAbove(actual, cost, "it is no hold (`ttlMs`)");
  return { giveBack: cost - actual, uncharged: 0 };
}
function giveBackOfUnrecorded(as, cost, actual = cost) {
  if (as === "cancelled") return { giveBack: cost, uncharged: 0 };
  checkTokens(actual, "commit", 0);
  return { giveBack: Math.max(0, cost - actual), uncharged: Math.max(0, actual - cost) };
}
function moreOf(asked, tokens, isUnrecorded) {
  if (!isUnrecorded) throw holdRequired("add");
  checkTokens(tokens, "add", 1);
  return { ...asked, cost: tokens, slot: false };
}
function mayRepeat(hasId) {
  return (error) => hasId || isNotDone(error);
}
function holdRequired(call) {
  return new QuotaError("hold_required", `${call}: only a hold can; reserve with \`ttlMs\``);
}
function heldFacts(decision) {
  return { status: "reserved", allowed: true, decision };
}
function refusedReservation(decision) {
  return {
    status: "refused",
    allowed: false,
    decision,
    commit() {
      throw new QuotaError("commit_refused", `"${decision.operation}" was refused: look at \`allowed\` before the work`);
    },
    cancel: () => void 0
  };
}
function repeatedReservation(status) {
  const nothing = { charged: 0, uncharged: 0 };
  return {
    status,
    allowed: false,
    commit: () => nothing,
    cancel: () => void 0
  };
}
function awaited(reservation) {
  return {
    ...reservation,
    commit: async () => reservation.commit(),
    cancel: async () => reservation.cancel()
  };
}
const MAX_TURNS$1 = 3;
class AsyncEngine extends Engine {
  sync = false;
  #counters;
  /** Whether the counters' answers are here at once, beside settings' that are not. */
  #answersNow;
  /** Whether the counters answer in time by themselves. */
  #keepsTime;
  #counting;
  #decider;
  constructor(parts) {
    super(parts);
    const { live, periods, deadlineMs, store } = parts;
    this.#counters = store.open(storeSchema(parts.policy));
    this.#answersNow = store.sync;
    this.#keepsTime = store.sync || store.deadlineMs !== void 0;
    this.#counting = new AsyncCounting({
      live,
      periods,
      counters: this.#counters,
      sync: store.sync,
      keepTime: this.#keepsTime,
      deadlineMs,
      late: (asked, answer, terms) => this.#giveBack(asked, answer, terms)
    });
    this.#decider = parts.decider((posting) => void this.#settle(posting).catch(() => void 0));
  }
  async consume(request) {
    const { signal } = request;
    if (signal !== void 0) return this.#consumeOrAbort(request, signal);
    const first = await this.#firstLook();
    const asked = this.#decider.asked(request);
    if (asked.slot) this.parts.check.consumable(asked);
    if (asked.cost === 0 && first?.error === void 0) return this.#decider.free(asked);
    const startedAtMs = this.parts.telling.start();
    return this.#decider.decision(asked, startedAtMs, await this.#take(asked, NO_TERMS$1, first));
  }
  within(transaction) {
    this.requireOpen();
    const { store, live, periods, deadlineMs, policy } = this.parts;
    const counters = store.sync ? void 0 : store.within?.(storeSchema(policy), transaction);
    if (counters === void 0) return super.within(transaction);
    const late = () => void 0;
    const counting = new AsyncCounting({ live, periods, counters, sync: false, keepTime: true, deadlineMs, late });
    return {
      consume: async (request) => {
        await this.#ready();
        const asked = this.#decider.asked(request);
        if (asked.slot) this.parts.check.consumable(asked);
        if (asked.cost === 0) return this.#decider.free(asked);
        const startedAtMs = this.parts.telling.start();
        const answer = await counting.take(asked, NO_TERMS$1);
        if (answer instanceof NoAnswer) throw unavailable(answer.error);
        return this.#decider.decision(asked, startedAtMs, answer);
      }
    };
  }
  async peek(request) {
    const askedAt = await this.#ready();
    const asked = this.#decider.asked(request);
    if (asked.cost === 0 && !asked.slot) return this.#decider.free(asked);
    const { subject, plan, category } = asked;
    const quotas = (await this.#quotasOf(subject, plan, askedAt))[category];
    const lookNow = () => this.#decider.lookFor(asked, quotas);
    return this.#look(lookNow, askedAt, (look, reply) => this.#decider.foreseen(asked, quotas, look, reply));
  }
  async reserve(request) {
    const { signal } = request;
    return signal === void 0 ? this.#reserve(request) : this.#reserveOrAbort(request, signal);
  }
  async status(subject, { plan } = {}) {
    const askedAt = await this.#ready();
    this.parts.check.subject(subject, plan);
    const quotas = await this.#quotasOf(subject, plan, askedAt);
    const held = this.#heldBy(subject, askedAt);
    const lookNow = () => this.#decider.lookAt(subject, quotas);
    const answered = async (look, reply) => this.#decider.status(subject, quotas, look, reply, await held);
    return this.#look(lookNow, askedAt, answered);
  }
  async closeWindows(request) {
    await this.#done(this.#counters.reset(request));
  }
  holdCalls(hold) {
    const { asked } = hold;
    const quotas = () => this.quotasNow(asked);
    return callsLater({
      hold,
      mayRepeat: () => true,
      check: (_as, actual) => hold.checkSettle(actual),
      extend: async (ttlMs) => {
        const request = hold.extendRequest(ttlMs);
        return hold.extended(await this.askHolds((holds) => holds.extend(request)));
      },
      add: async (tokens) => {
        const { request, reply } = await this.#inForce(
          async () => hold.growRequest(tokens, await quotas()),
          (asking) => this.askHolds((holds) => holds.grow(asking))
        );
        return hold.grown(request, reply);
      },
      settle: async (as, actual) => {
        const { request, reply } = await this.#inForce(
          async () => hold.settleRequest(as, actual, await quotas()),
          (asking) => this.askHolds((holds) => holds.settle(asking))
        );
        return hold.settled(request, reply);
      }
    });
  }
  async askHolds(ask) {
    const holds = this.requireHolds(this.#counters.holds);
    return askLater(() => this.#answer(ask(holds)));
  }
  async quotasNow({ subject, plan, category }) {
    return (await this.#quotasOf(subject, plan, await this.#ready()))[category];
  }
  async #reserve(request) {
    const first = await this.#firstLook();
    const asked = this.#decider.asked(request);
    const terms = this.parts.check.terms(request, asked);
    if (asked.cost === 0 && terms.id === void 0 && first?.error === void 0) {
      return this.#handle(this.#decider.freely(asked));
    }
    const startedAtMs = this.parts.telling.start();
    const answer = await this.#take(asked, terms, first);
    return this.#handle(this.#decider.reservation(asked, startedAtMs, answer, terms));
  }
  /** A consumption that can be taken back until the signal is too late: a reservation that is never settled. */
  async #consumeOrAbort(request, signal) {
    const { live } = this.parts;
    if (live.loaded) this.parts.check.consumable(this.#decider.asked(request));
    const { ttlMs: _, ...plain2 } = request;
    return (await this.#reserveOrAbort(plain2, signal)).decision;
  }
  async #reserveOrAbort(request, signal) {
    signal.throwIfAborted();
    return orAborted(this.#reserve(request), signal);
  }
  /** The very first look at the settings, which decisions wait for; its failure is the failure policy's. */
  async #firstLook() {
    this.requireOpen();
    const { live } = this.parts;
    if (live.loaded) return void 0;
    const askedAt = systemStopwatch();
    try {
      await live.ready();
      return { askedAt };
    } catch (error) {
      return { askedAt, error };
    }
  }
  async #take(asked, terms, first) {
    if (first?.error === void 0) return this.#counting.take(asked, terms, first?.askedAt);
    return new NoAnswer(first.error, this.parts.live.compiled.defaults[asked.category], true);
  }
  /** The same for what is no decision: since when the caller waits, by the machine's stopwatch. */
  async #ready() {
    const first = await this.#firstLook();
    if (first?.error !== void 0) throw unavailable(first.error, "the settings store");
    return first?.askedAt ?? systemStopwatch();
  }
  #inTime(askedAt, ask, of) {
    const leftMs = Math.max(0, this.parts.deadlineMs - (systemStopwatch() - askedAt));
    return askLater(() => withinTime(ask(), leftMs), of);
  }
  #quotasOf(subject, plan, askedAt) {
    const { live } = this.parts;
    const ask = async () => live.known(subject, plan) ?? live.quotasOf(await live.fetch(subject), plan, subject);
    return this.#inTime(askedAt, ask, "the settings store");
  }
  /** The open holds of a subject; a status waits for them as for its windows. */
  #heldBy(subject, askedAt) {
    const { holds } = this.#counters;
    if (holds === void 0) return Promise.resolve(NO_HOLDS$1);
    const listed2 = this.#inTime(askedAt, async () => (await this.#answer(holds.list({ subject }))).holds);
    listed2.catch(() => void 0);
    return listed2;
  }
  #look(lookNow, askedAt, answered) {
    return this.#inTime(askedAt, async () => {
      for (let turns = 1; ; turns++) {
        const look = lookNow();
        const answer = this.#counters.read(look);
        const reply = this.#answersNow ? answer : await answer;
        if (reply.isStale !== true || turns === MAX_TURNS$1) return answered(look, reply);
        this.parts.periods.stale(reply.now);
      }
    });
  }
  /** Asks the store, again where it knows other settings, or its clock is outside of the periods that it was told. */
  async #inForce(requestNow, ask) {
    for (let turns = 1; ; turns++) {
      const request = await requestNow();
      const reply = await ask(request);
      if (reply.outcome !== "stale") return { request, reply };
      if (turns === MAX_TURNS$1) throw unavailable(new QuotaError("store_error", "settings and clock changed too fast"));
      const { settingsRevision } = reply;
      if (settingsRevision === void 0) this.parts.periods.stale(reply.now);
      else await askLater(() => this.parts.live.catchUp(settingsRevision), "the settings store");
    }
  }
  async #settle(request) {
    await this.#done(this.#counters.settle(request));
  }
  /** Waits for counters that have nothing to say, in time. */
  async #done(answer) {
    if (this.#keepsTime) await answer;
    else await withinTime(answer, this.parts.deadlineMs);
  }
  /** What counters say, in time. */
  async #answer(answer) {
    const counters = { sync: this.#answersNow };
    if (this.#keepsTime) return (await boxed(counters, answer)).value;
    return (await withinTime(boxed(counters, answer), this.parts.deadlineMs)).value;
  }
  /** An admission whose caller was told that there was no answer. A refund that fails leaves the tokens charged. */
  #giveBack(asked, { states, quotas, endsAt }, { id, hold }) {
    const { subject, category, cost } = asked;
    if (hold !== void 0) {
      this.holdCalls(this.parts.held(asked, id, hold.ttlMs, endsAt)).cancel().catch(() => void 0);
      return;
    }
    const { layers } = quotas;
    this.#settle({ subject, category, layers, states, giveBack: cost, as: "cancelled", id }).catch(() => void 0);
  }
  #handle(reserved) {
    if (reserved.kind === "refused") return awaited(refusedReservation(reserved.decision));
    if (reserved.kind === "repeated") return awaited(repeatedReservation(reserved.status));
    return Object.assign(this.#calls(reserved), heldFacts(reserved.decision));
  }
  #calls(reserved) {
    const { asked, decision, settlement, hasId, hold, isUnrecorded = false } = reserved;
    if (hold !== void 0) return this.holdCalls(hold);
    const giveBackOf = isUnrecorded ? giveBackOfUnrecorded : giveBackOfPlain;
    return callsLater({
      hold: void 0,
      mayRepeat: mayRepeat(hasId),
      check: (as, actual) => void giveBackOf(as, decision.cost, actual),
      settle: async (as, actual) => {
        const { giveBack, uncharged } = giveBackOf(as, decision.cost, actual);
        const request = as === "committed" && giveBack === 0 ? void 0 : settlement(giveBack, as);
        if (request !== void 0) await askLater(() => this.#settle(request));
        return { charged: decision.cost - giveBack, uncharged };
      },
      extend: async (ttlMs) => this.parts.endWithoutStore(isUnrecorded, ttlMs),
      add: async (tokens) => {
        const more = moreOf(asked, tokens, isUnrecorded);
        return this.#decider.decision(more, void 0, await this.#take(more, NO_TERMS$1, void 0));
      }
    });
  }
}
const NO_TERMS$1 = {};
const NO_HOLDS$1 = [];
function newRevision() {
  let text2 = "";
  for (const byte of crypto.getRandomValues(new Uint8Array(22))) text2 += ALPHABET[byte & 63];
  return text2;
}
const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";
function memorySettings() {
  return new Store$1();
}
const NOTHING$1 = { version: 0, stored: void 0 };
let Store$1 = class Store {
  sync = true;
  isMarked = false;
  #listeners = /* @__PURE__ */ new Set();
  /** By layer, then by key. */
  #subjects = /* @__PURE__ */ new Map();
  #settings = NOTHING$1;
  read() {
    return this.#settings.stored;
  }
  write(document, options) {
    return write(this.#settings, document, options, (entry2) => {
      this.#settings = entry2;
      this.#tell({ kind: "settings" });
    });
  }
  readSubject(layer, key) {
    return this.#subjects.size === 0 ? void 0 : this.#subjects.get(layer)?.get(key)?.stored;
  }
  writeSubject(layer, key, document, options) {
    const keys = this.#subjects.get(layer) ?? /* @__PURE__ */ new Map();
    return write(keys.get(key) ?? NOTHING$1, document, options, (entry2) => {
      keys.set(key, entry2);
      this.#subjects.set(layer, keys);
      this.#tell({ kind: "subject", layer, key });
    });
  }
  watch(listener) {
    const entry2 = (change) => listener(change);
    this.#listeners.add(entry2);
    return () => this.#listeners.delete(entry2);
  }
  #tell(change) {
    for (const listener of [...this.#listeners]) listener(change);
  }
};
function write({ version, stored }, document, { ifRevision }, put) {
  const revision = stored?.revision ?? "";
  if (ifRevision !== void 0 && ifRevision !== revision) {
    return { written: false, version: stored?.version ?? 0, revision };
  }
  const next = { version: version + 1, revision: newRevision() };
  if (document === null) {
    put({ version: next.version, stored: void 0 });
    return { written: true, version: 0, revision: "" };
  }
  put({ version: next.version, stored: { document, ...next } });
  return { written: true, ...next };
}
function isOpen$1(startedAt, used, lengthMs, now) {
  return used !== CLOSED && now < startedAt + lengthMs;
}
function anchored(startedAt, now) {
  return startedAt - now > MAX_AHEAD_MS ? now + 1 : startedAt;
}
function closedRow(cells) {
  return new Array(2 * cells).fill(0.5).fill(CLOSED);
}
function fits$1(cells, at, { lengthsMs }, limits2, from, cost, now) {
  for (let w = 0; w < lengthsMs.length; w++) {
    const i = at + 2 * w;
    const used = cells[i + 1];
    const open = isOpen$1(cells[i], used, lengthsMs[w], now);
    if ((open ? used : 0) + cost > limits2[from + w]) return false;
  }
  return true;
}
function roomIn(cells, at, { lengthsMs }, limits2, from, now) {
  let room = Number.POSITIVE_INFINITY;
  for (let w = 0; w < lengthsMs.length; w++) {
    const i = at + 2 * w;
    const used = cells[i + 1];
    const open = isOpen$1(cells[i], used, lengthsMs[w], now);
    room = Math.min(room, limits2[from + w] - (open ? used : 0));
  }
  return room;
}
function chargeAndView(cells, at, { lengthsMs, agesMs }, cost, now, state, to) {
  for (let w = 0; w < lengthsMs.length; w++) {
    const i = at + 2 * w;
    chargeWindow(cells, i, lengthsMs[w], agesMs[w], cost, now);
    state[to + 2 * w] = cells[i];
    state[to + 2 * w + 1] = cells[i + 1];
  }
}
function chargeWindow(cells, i, lengthMs, ageMs, cost, now) {
  const startedAt = cells[i];
  const used = cells[i + 1];
  if (isOpen$1(startedAt, used, lengthMs, now)) {
    cells[i] = anchored(startedAt, now);
    cells[i + 1] = Math.min(used + cost, MAX_USED);
  } else {
    cells[i] = Math.max(now - ageMs, anchored(startedAt, now) + 1);
    cells[i + 1] = cost;
  }
}
function reanchor(cells, at, windows, now) {
  for (let i = at; i < at + 2 * windows; i += 2) if (cells[i + 1] !== CLOSED) cells[i] = anchored(cells[i], now);
}
function refund(cells, at, windows, startedAts, from, tokens) {
  for (let w = 0; w < windows; w++) {
    const i = at + 2 * w;
    const used = cells[i + 1];
    if (used !== CLOSED && cells[i] === startedAts[from + w]) cells[i + 1] = Math.max(0, used - tokens);
  }
}
function refundCharged(cells, at, windows, charged, from, tokens) {
  for (let w = 0; w < windows; w++) {
    const i = at + 2 * w;
    const used = cells[i + 1];
    if (used === CLOSED || cells[i] !== charged[from + 2 * w]) continue;
    cells[i + 1] = Math.max(0, used - Math.min(tokens, charged[from + 2 * w + 1]));
  }
}
function close(cells, at, windows) {
  for (let i = at; i < at + 2 * windows; i += 2) cells[i + 1] = CLOSED;
}
function viewRow(cells, at, { lengthsMs }, now, state, to) {
  for (let w = 0; w < lengthsMs.length; w++) {
    const i = at + 2 * w;
    const used = cells[i + 1];
    const startedAt = anchored(cells[i], now);
    const open = isOpen$1(startedAt, used, lengthsMs[w], now);
    state[to + 2 * w] = open ? startedAt : NOT_OPEN;
    state[to + 2 * w + 1] = open ? used : 0;
  }
}
function lastEnd(cells, at, lengthsMs) {
  let end = 0;
  for (let c = 0; c < lengthsMs.length; c++) {
    const lengthMs = lengthsMs[c];
    const isOver2 = lengthMs === Number.POSITIVE_INFINITY && cells[at + 2 * c + 1] <= 0;
    if (!isOver2) end = Math.max(end, cells[at + 2 * c] + lengthMs);
  }
  return end;
}
function slotFits(cells, i, limit2) {
  return Math.max(0, cells[i + 1]) + 1 <= limit2;
}
function takeSlot(cells, i, now) {
  if (cells[i + 1] === CLOSED) {
    cells[i] = Math.max(now, cells[i] + 1);
    cells[i + 1] = 1;
  } else {
    cells[i + 1] = cells[i + 1] + 1;
  }
}
function freeSlot(cells, i, startedAt) {
  if (cells[i + 1] !== CLOSED && cells[i] === startedAt) cells[i + 1] = Math.max(0, cells[i + 1] - 1);
}
function viewSlots(cells, i, state, to) {
  const isUsed = cells[i + 1] !== CLOSED;
  state[to] = isUsed ? cells[i] : NOT_OPEN;
  state[to + 1] = isUsed ? cells[i + 1] : 0;
}
class EndQueue {
  #heap = [];
  /** When the first ends, epoch milliseconds; `Infinity` where there is none. */
  get firstEndsAt() {
    return this.#heap[0]?.endsAt ?? Number.POSITIVE_INFINITY;
  }
  push(endsAt, key) {
    const heap = this.#heap;
    let at = heap.push({ endsAt, key }) - 1;
    while (at > 0) {
      const parent = at - 1 >> 1;
      if (heap[parent].endsAt <= heap[at].endsAt) return;
      [heap[parent], heap[at]] = [heap[at], heap[parent]];
      at = parent;
    }
  }
  /** Takes the first out. */
  pop() {
    const heap = this.#heap;
    const first = heap[0];
    const last2 = heap.pop();
    if (first === void 0 || last2 === void 0) return void 0;
    if (heap.length > 0) {
      heap[0] = last2;
      this.#sink();
    }
    return first.key;
  }
  #sink() {
    const heap = this.#heap;
    let at = 0;
    for (; ; ) {
      const left = 2 * at + 1;
      if (left >= heap.length) return;
      const right = left + 1;
      const child = right < heap.length && heap[right].endsAt < heap[left].endsAt ? right : left;
      if (heap[at].endsAt <= heap[child].endsAt) return;
      [heap[child], heap[at]] = [heap[at], heap[child]];
      at = child;
    }
  }
}
const LOOKS = 16;
const LINGER = 1 / 16;
const MAY_GROW = 64;
class Sweeper {
  #entries;
  #endsAt;
  #pass;
  /** The earliest end among what this pass kept. */
  #earliest = Number.POSITIVE_INFINITY;
  #passedAt = 0;
  #nextPassAt = 0;
  #nextPassFrom = MAY_GROW;
  /** @param endsAt from when an entry may be forgotten, epoch milliseconds; it may only become later */
  constructor(entries, endsAt) {
    this.#entries = entries;
    this.#endsAt = endsAt;
  }
  /** A step, where there is anything to look for. */
  step(now, lifeMs) {
    if (now >= this.#nextPassAt || this.#isDueEarly(now)) this.sweep(now, lifeMs, LOOKS);
  }
  /** Also when the clock stepped back: what it said of the next pass was said of another time. */
  #isDueEarly(now) {
    return this.#pass !== void 0 || this.#entries.size >= this.#nextPassFrom || now < this.#passedAt;
  }
  /** Looks at the next entries, `most` of them. */
  sweep(now, lifeMs, most) {
    for (let looked = 0; looked < most; looked++) {
      this.#pass ??= this.#entries.entries();
      const next = this.#pass.next();
      if (next.done) {
        this.#pass = void 0;
        this.#passedAt = now;
        this.#nextPassFrom = 2 * this.#entries.size + MAY_GROW;
        this.#nextPassAt = Math.max(Math.min(this.#earliest, now + lifeMs), now + lifeMs * LINGER);
        this.#earliest = Number.POSITIVE_INFINITY;
        return;
      }
      const [key, entry2] = next.value;
      const endsAt = this.#endsAt(entry2);
      if (now >= endsAt) this.#entries.delete(key);
      else this.#earliest = Math.min(this.#earliest, endsAt);
    }
  }
}
const PAIRS = 1;
function blankRow(cells) {
  return copyOf([0, ...closedRow(cells)]);
}
function writable(row) {
  const copy = copyOf(row);
  const added = copy[0];
  if (added === 0) return copy;
  copy[0] = 0;
  for (let i = PAIRS + 1; i < copy.length; i += 2) if (copy[i] !== CLOSED) copy[i] += added;
  return copy;
}
function copyOf(row) {
  const copy = new Array(row.length).fill(0.5);
  for (let i = 0; i < row.length; i++) copy[i] = row[i];
  return copy;
}
class RowTable {
  #cells = [];
  #lengthsMs = [];
  #lifeMs = 0;
  #rows = /* @__PURE__ */ new Map();
  #sharedRow;
  #sweeper = new Sweeper(this.#rows, (row) => this.#endOf(row));
  get size() {
    return this.#rows.size + (this.#sharedRow === void 0 ? 0 : 1);
  }
  get cells() {
    return this.#cells;
  }
  /** Where cells stand in this table's rows; those that are new to it come last. */
  placesOf(cells) {
    return cells.map((cell) => {
      const known = this.#cells.findIndex(({ identity }) => identity === cell.identity);
      return known === -1 ? this.#append(cell) : known;
    });
  }
  /** The row as it is kept: only its first number may be written. */
  kept(key) {
    return key === "" ? this.#sharedRow : this.#rows.get(key);
  }
  /** A copy with nothing added to its pairs, to be {@link put} after a change. */
  find(key) {
    const row = this.kept(key);
    return row && writable(row);
  }
  /** The row of a subject from now on; whoever puts it writes it no more. */
  put(key, row) {
    if (key === "") this.#sharedRow = row;
    else this.#rows.set(key, row);
  }
  /** Forgets every row; the cells stay where they stand. */
  clear() {
    this.#rows.clear();
    this.#sharedRow = void 0;
  }
  /** Looks at a few rows, where any can have ended, and forgets those that have. */
  step(now) {
    this.#sweeper.step(now, this.#lifeMs);
  }
  /** Looks at the next rows, `most` of them, and forgets those that ended. */
  sweep(now, most) {
    this.#sweeper.sweep(now, this.#lifeMs, most);
  }
  /** Every row that still says something. */
  *rows(now) {
    if (this.#sharedRow !== void 0 && now < this.#endOf(this.#sharedRow)) yield ["", pairsOf(this.#sharedRow)];
    for (const [key, row] of this.#rows) if (now < this.#endOf(row)) yield [key, pairsOf(row)];
  }
  #endOf(row) {
    return lastEnd(row, PAIRS, this.#lengthsMs) + GRACE_MS;
  }
  #append(cell) {
    this.#cells.push(cell);
    this.#lengthsMs.push(cell.lengthMs);
    if (Number.isFinite(cell.lengthMs)) this.#lifeMs = Math.max(this.#lifeMs, cell.lengthMs + GRACE_MS);
    const longer = (row) => copyOf([...row, CLOSED, CLOSED]);
    for (const [key, row] of this.#rows) this.#rows.set(key, longer(row));
    if (this.#sharedRow !== void 0) this.#sharedRow = longer(this.#sharedRow);
    return this.#cells.length - 1;
  }
}
function pairsOf(row) {
  return writable(row).slice(PAIRS);
}
const MAX_ENDED = 1e3;
class HoldBook {
  #tables;
  #ids;
  /** May name a hold more than once, and settled ones: the record tells. */
  #byEnd = new EndQueue();
  #byOwner = /* @__PURE__ */ new Map();
  #ended = [];
  #size = 0;
  constructor(tables, ids) {
    this.#tables = tables;
    this.#ids = ids;
  }
  /** Open holds. */
  get size() {
    return this.#size;
  }
  /** When the next of them may end, epoch milliseconds; `Infinity` without any. */
  get firstEndsAt() {
    return this.#byEnd.firstEndsAt;
  }
  /** Keys of the open holds of an owner. */
  of(owner) {
    return this.#byOwner.get(owner) ?? NONE;
  }
  /** Writes the record of a hold that is open: a new one, or one that has changed. */
  putOpen(key, record) {
    const { owner, endsAt } = record.hold;
    this.#ids.put(key, record);
    this.#byEnd.push(endsAt, key);
    const keys = this.#byOwner.get(owner) ?? /* @__PURE__ */ new Set();
    this.#byOwner.set(owner, keys);
    if (keys.has(key)) return;
    keys.add(key);
    this.#size++;
  }
  /** Writes the record of a hold that was open: tokens go back by it, slots are free. */
  close(key, { hold, ...record }, state, now, { giveBack, answer }) {
    for (const { layer, key: subject, charged } of hold.rows) {
      const table = this.#tables.of(layer, hold.category);
      const row = table.find(subject);
      if (row === void 0) continue;
      for (const [c, { kind }] of table.cells.entries()) {
        const [startedAt, taken] = [charged[2 * c], charged[2 * c + 1]];
        if (startedAt === void 0 || taken === void 0 || taken === 0) continue;
        if (kind === "concurrency") freeSlot(row, PAIRS + 2 * c, startedAt);
        else refundCharged(row, PAIRS + 2 * c, 1, charged, 2 * c, giveBack);
      }
      table.put(subject, row);
    }
    this.#ids.put(key, { ...record, state, expiresAt: now + hold.ttlMs, hold: { ...hold, rows: [], answer } });
    this.#forget(key, hold.owner);
  }
  /** Settles every hold that has ended by now: exactly once, and whatever looks comes after it. */
  endDue(now) {
    while (this.#byEnd.firstEndsAt <= now) {
      const key = this.#byEnd.pop();
      const record = this.#ids.find(key, now);
      const hold = record?.hold;
      if (record?.state !== "reserved" || hold === void 0 || hold.endsAt > now) continue;
      const { category, owner, tokens, endsAt } = hold;
      this.close(key, { ...record, hold }, "expired", now, { giveBack: tokens });
      if (this.#ended.length < MAX_ENDED) {
        this.#ended.push({ category, owner, fingerprint: record.fingerprint, tokens, endsAt });
      }
    }
  }
  /** What ended since the last call. */
  drain() {
    const ended = this.#ended;
    this.#ended = [];
    return ended;
  }
  /** Forgets every hold, as if there had been none. */
  clear() {
    while (this.#byEnd.pop() !== void 0) ;
    this.#byOwner.clear();
    this.#ended = [];
    this.#size = 0;
  }
  #forget(key, owner) {
    const keys = this.#byOwner.get(owner);
    if (keys?.delete(key) !== true) return;
    this.#size--;
    if (keys.size === 0) this.#byOwner.delete(owner);
  }
}
const NONE = /* @__PURE__ */ new Set();
function idKey(schema, subject, category, { id }) {
  return JSON.stringify([schema.categories[category], idOwnerKey(schema, subject), id]);
}
const NEVER = Number.MAX_SAFE_INTEGER;
const SWEEP_WHEN_FULL$1 = 64;
class IdRecords {
  #records = /* @__PURE__ */ new Map();
  #sweeper = new Sweeper(this.#records, ({ expiresAt }) => expiresAt + GRACE_MS);
  #lifeMs = 0;
  get size() {
    return this.#records.size;
  }
  has(key) {
    return this.#records.has(key);
  }
  find(key, now) {
    const record = this.#records.get(key);
    return record !== void 0 && now < record.expiresAt ? record : void 0;
  }
  write(key, id, state, states, now) {
    this.put(key, { state, nonce: id.nonce, fingerprint: id.fingerprint, states, expiresAt: now + id.ttlMs });
    this.#lifeMs = Math.max(this.#lifeMs, id.ttlMs + GRACE_MS);
  }
  /** Puts a record as it is. */
  put(key, record) {
    this.#records.set(key, record);
    if (record.hold !== void 0) this.#lifeMs = Math.max(this.#lifeMs, record.hold.ttlMs + GRACE_MS);
  }
  clear() {
    this.#records.clear();
  }
  /** Whether there is room for one more of at most `max`. */
  hasRoom(max, now) {
    if (this.#records.size >= max) this.sweep(now, SWEEP_WHEN_FULL$1);
    return this.#records.size < max;
  }
  /** Looks at a few records, where any can have ended, and forgets those that have. */
  step(now) {
    if (this.#records.size > 0) this.#sweeper.step(now, this.#lifeMs);
  }
  /** Looks at the next records, `most` of them, and forgets those that ended. */
  sweep(now, most) {
    this.#sweeper.sweep(now, this.#lifeMs, most);
  }
  /** Every live record with its key. */
  *entries(now) {
    for (const entry2 of this.#records) if (now < entry2[1].expiresAt) yield entry2;
  }
}
class MemoryHolds {
  #shared;
  #rows;
  constructor(shared, rows) {
    this.#shared = shared;
    this.#rows = rows;
  }
  /** A take under an id that nobody used, of tokens and slots that can be given back by themselves. */
  take(request, key, now) {
    const { subject, category, id, hold, cost, quotas } = request;
    const { book } = this.#shared;
    const { schema } = this.#rows;
    const owner = idOwnerKey(schema, subject);
    const hasRoom = book.of(owner).size < hold.maxHolds;
    if (!hasRoom) return { outcome: "too_many_holds", now, states: [] };
    const reply = this.#rows.decide(request, now);
    if (reply.outcome !== "admitted") return reply;
    const endsAt = now + hold.ttlMs;
    book.putOpen(key, {
      state: "reserved",
      nonce: id.nonce,
      fingerprint: id.fingerprint,
      states: reply.states,
      expiresAt: NEVER,
      hold: {
        category: schema.categories[category],
        owner,
        tokens: cost,
        slot: hold.slot,
        takenAt: now,
        endsAt,
        ttlMs: id.ttlMs,
        rows: this.#rowsOf(subject, category, quotas.layers, cost, hold.slot)
      }
    });
    return { ...reply, endsAt };
  }
  extend({ ttlMs, ...ref2 }) {
    const now = this.#now();
    const { key, record } = this.#find(ref2, now);
    if (!isOpen(record)) return { outcome: outcomeOf(record), now, states: [] };
    const endsAt = Math.max(record.hold.endsAt, now + ttlMs);
    this.#shared.book.putOpen(key, { ...record, hold: { ...record.hold, endsAt } });
    return { outcome: "held", now, endsAt, states: [] };
  }
  grow({ tokens, quotas, periods, ...ref2 }) {
    const now = this.#now();
    const { key, record } = this.#find(ref2, now);
    if (!isOpen(record)) return { outcome: outcomeOf(record), now, states: [] };
    const { subject, category } = ref2;
    const reply = this.#rows.decide({ subject, category, quotas, periods, cost: tokens }, now);
    if (reply.outcome !== "admitted") return { ...reply, outcome: reply.outcome };
    const { hold } = record;
    const rows = merged(hold.rows, this.#rowsOf(subject, category, quotas.layers, tokens, false));
    this.#shared.book.putOpen(key, { ...record, hold: { ...hold, tokens: hold.tokens + tokens, rows } });
    return { outcome: "held", now, endsAt: hold.endsAt, states: reply.states };
  }
  settle(request) {
    const now = this.#now();
    const { key, record } = this.#find(request, now);
    const nothing = { now, charged: 0, uncharged: 0, reserved: 0, states: [] };
    if (request.as === "cancelled") {
      if (record === "unreserved") this.#shared.ids.write(key, request.id, "cancelled", [], now);
      if (isOpen(record)) {
        this.#shared.book.close(key, record, "cancelled", now, { giveBack: record.hold.tokens });
      }
      return { ...nothing, outcome: record === "unknown" ? "unknown" : "settled" };
    }
    if (record === "unknown" || record === "unreserved") return { ...nothing, outcome: "unknown" };
    const { answer, tokens } = record.hold;
    if (answer !== void 0) return { ...nothing, ...answer, outcome: "settled" };
    if (record.state === "cancelled") return { ...nothing, outcome: "cancelled" };
    return this.#commit(request, key, record, request.actual ?? tokens, now);
  }
  /** A commit of what is open, or a late one. */
  #commit(request, key, record, actual, now) {
    const { tokens } = record.hold;
    const { overrun, maxOverrun } = request;
    const isLate = record.state === "expired";
    const nothing = { now, charged: 0, uncharged: 0, reserved: tokens, states: [] };
    if (isLate && overrun !== "charge") return { ...nothing, outcome: "expired" };
    if (!isLate && actual > tokens && overrun === "refuse") return { ...nothing, outcome: "above" };
    const within2 = isLate ? 0 : Math.min(actual, tokens);
    const excess = Math.min(actual - within2, isLate ? tokens + maxOverrun : maxOverrun);
    const more = excess > 0 ? this.#overrun(request, excess, now) : { added: 0 };
    if (more === void 0) return { ...nothing, outcome: "stale" };
    const charged = within2 + more.added;
    const answer = { charged, uncharged: actual - charged, reserved: tokens };
    const giveBack = isLate ? 0 : tokens - within2;
    this.#shared.book.close(key, record, "committed", now, { giveBack, answer });
    const states = excess > 0 ? this.#rows.look(request, now) ?? [] : [];
    return { ...answer, outcome: "settled", now, states };
  }
  /** Charges what is above a hold, in the windows that are open now; `undefined`: the clock is outside of the periods. */
  #overrun({ subject, category, quotas, periods, overrun }, excess, now) {
    const request = { subject, category, quotas, periods };
    const room = overrun === "fit" ? this.#rows.room({ ...request, cost: excess }, now) : excess;
    if (room === void 0) return void 0;
    const added = Math.min(excess, room);
    const { outcome, states } = this.#rows.force({ ...request, cost: added }, now);
    return outcome === "stale" ? void 0 : { added, states };
  }
  list({ subject }) {
    const now = this.#now();
    const { book, ids } = this.#shared;
    const { schema } = this.#rows;
    const holds = [...book.of(idOwnerKey(schema, subject))].flatMap((key) => {
      const record = ids.find(key, now);
      const category = schema.categories.indexOf(record?.hold?.category ?? "");
      if (!isOpen(record) || category === -1) return [];
      const { tokens, slot, takenAt, endsAt } = record.hold;
      const [, , id] = JSON.parse(key);
      const { nonce, fingerprint } = record;
      const charged = this.#chargedOf(record.hold, category);
      return [{ category, id, nonce, fingerprint, tokens, slot, takenAt, endsAt, charged }];
    });
    return { now, holds: holds.sort((a, b) => a.endsAt - b.endsAt) };
  }
  sweep() {
    this.#now();
    const { book } = this.#shared;
    return { ended: book.drain(), open: book.size };
  }
  /** The instant of a call. Whatever finds a hold past its end finds it settled. */
  #now() {
    const now = instantOf(this.#shared.clock);
    this.#shared.book.endDue(now);
    return now;
  }
  #find({ subject, category, id }, now) {
    const key = idKey(this.#rows.schema, subject, category, id);
    const record = this.#shared.ids.find(key, now);
    if (record === void 0) return { key, record: "unreserved" };
    const { hold } = record;
    return { key, record: record.nonce !== id.nonce || hold === void 0 ? "unknown" : { ...record, hold } };
  }
  /** What was charged just now to the rows of some layers, in the order of each table's cells. */
  #rowsOf(subject, category, layers, tokens, slot) {
    const { schema, layout } = this.#rows;
    return layers.map((layer) => {
      const { table, places } = this.#rows.viewOf(layer, category);
      const key = this.#rows.keyOf(layer, subject);
      const row = table.kept(key);
      const charged = table.cells.flatMap(() => [NOT_OPEN, 0]);
      for (const [cell, place] of places.entries()) {
        const taken = cell < layout.width ? tokens : Number(slot);
        if (taken > 0) [charged[2 * place], charged[2 * place + 1]] = [row[PAIRS + 2 * place], taken];
      }
      return { layer: schema.layers[layer].name, key, charged };
    });
  }
  /** What a hold has in the first own layer, in the order of the schema's cells. */
  #chargedOf({ rows }, category) {
    const { schema, layout } = this.#rows;
    const layer = schema.layers.findIndex(({ shared }) => !shared);
    const row = rows.find((each) => each.layer === schema.layers[layer].name);
    if (row === void 0) return Array.from({ length: layout.size }, () => [NOT_OPEN, 0]).flat();
    const { places } = this.#rows.viewOf(layer, category);
    return places.flatMap((place) => [row.charged[2 * place] ?? NOT_OPEN, row.charged[2 * place + 1] ?? 0]);
  }
}
function isOpen(record) {
  return typeof record === "object" && record.state === "reserved" && record.hold !== void 0;
}
function outcomeOf(record) {
  if (record === "unknown" || record === "unreserved") return "unknown";
  return record.state === "expired" ? "expired" : "settled";
}
function merged(before, added) {
  const untouched = before.filter(({ layer, key }) => !added.some((row) => row.layer === layer && row.key === key));
  const grown = added.map((row) => {
    const old = before.find(({ layer, key }) => layer === row.layer && key === row.key);
    if (old === void 0) return row;
    const charged = [...row.charged];
    for (let i = 0; i < charged.length; i += 2) {
      const [startedAt, tokens] = [old.charged[i], old.charged[i + 1]];
      if (startedAt === void 0 || tokens === void 0) continue;
      if (charged[i + 1] === 0) [charged[i], charged[i + 1]] = [startedAt, tokens];
      else if (charged[i] === startedAt) charged[i + 1] += tokens;
    }
    return { ...row, charged };
  });
  return [...untouched, ...grown];
}
const MOST_LAYERS = 2;
const NO_ROOM = 0;
const ROOM = 1;
const VACANT = 2;
const UNUSUAL = 3;
class OpenRows {
  #schema;
  #views;
  #lengthsMs;
  /** Whether the policy has nothing but rolling windows. */
  #isRolling;
  /** @param views one for each (layer, category), at `layer * categories + category` */
  constructor(schema, layout, views) {
    this.#schema = schema;
    this.#views = views;
    this.#lengthsMs = layout.lengthsMs;
    this.#isRolling = layout.calendars.length === 0 && !layout.hasSlots;
  }
  /** Charges every row, or says that one has no room; `undefined`: it is not usual, and nothing was done. */
  take(subject, category, quotas, cost, settingsVersion, now) {
    const { layers, limits: limits2 } = quotas;
    const { length } = layers;
    if (!this.#isRolling || length > MOST_LAYERS || length === 0) return void 0;
    const first = this.#rowOf(layers[0], category, subject);
    let room = this.#roomIn(first, limits2, 0, cost, now);
    if (room === UNUSUAL) return void 0;
    let second;
    if (length === MOST_LAYERS) {
      second = this.#rowOf(layers[1], category, subject);
      const more = this.#roomIn(second, limits2, this.#lengthsMs.length, cost, now);
      if (more === UNUSUAL) return void 0;
      if (more === NO_ROOM || room === ROOM) room = more;
    }
    if (room === VACANT) return void 0;
    if (room === ROOM) {
      first[0] += cost;
      if (length === MOST_LAYERS) second[0] += cost;
    }
    return new Reply(room === ROOM, now, quotas, settingsVersion, first, second);
  }
  #rowOf(layer, category, subject) {
    const { layers, categories } = this.#schema;
    return this.#views[layer * categories.length + category].kept(layerKey(layers[layer], subject));
  }
  #roomIn(row, limits2, from, cost, now) {
    if (row === null) return UNUSUAL;
    if (row === void 0) return this.#roomInNothing(limits2, from, cost);
    const lengthsMs = this.#lengthsMs;
    const added = row[0] + cost;
    let room = ROOM;
    for (let w = 0; w < lengthsMs.length; w++) {
      const startedAt = row[PAIRS + 2 * w];
      const used = row[PAIRS + 2 * w + 1];
      if (used === CLOSED || now >= startedAt + lengthsMs[w] || startedAt - now > MAX_AHEAD_MS) return UNUSUAL;
      if (used + added > limits2[from + w]) room = NO_ROOM;
      else if (used + added > MAX_USED) return UNUSUAL;
    }
    return room;
  }
  #roomInNothing(limits2, from, cost) {
    for (let w = 0; w < this.#lengthsMs.length; w++) if (cost > limits2[from + w]) return NO_ROOM;
    return VACANT;
  }
}
class Reply {
  outcome;
  now;
  quotas;
  settingsVersion;
  #first;
  #second;
  #addedToFirst;
  #addedToSecond;
  constructor(isAdmitted, now, quotas, settingsVersion, first, second) {
    this.outcome = isAdmitted ? "admitted" : "refused";
    this.now = now;
    this.quotas = quotas;
    this.settingsVersion = settingsVersion;
    this.#first = first;
    this.#second = second;
    this.#addedToFirst = first ? first[0] : 0;
    this.#addedToSecond = second ? second[0] : 0;
  }
  get periods() {
    return void 0;
  }
  get states() {
    const { layers, limits: limits2 } = this.quotas;
    const width = limits2.length / layers.length;
    const states = statesOf(this.#first, this.#addedToFirst, width);
    return layers.length === 1 ? states : [...states, ...statesOf(this.#second, this.#addedToSecond, width)];
  }
}
function statesOf(row, added, width) {
  if (!row) return Array.from({ length: width }, () => [NOT_OPEN, 0]).flat();
  const pairs = row.slice(PAIRS);
  for (let i = 1; i < pairs.length; i += 2) pairs[i] += added;
  return pairs;
}
class TableView {
  table;
  /** Where each of the layout's cells stands in the table's rows. */
  places;
  /**
   * Whether the layout's cells are the first of the table's, in the same order. It is so unless policies with other limits
   * were opened before.
   */
  #isStraight;
  constructor(table, layout) {
    this.table = table;
    this.places = table.placesOf(layout.cells);
    this.#isStraight = this.places.every((place, index) => place === index);
  }
  /** The row as it is kept; `null` where the table's rows have other policies' cells too, or another order. */
  kept(key) {
    return this.#isStraight && this.places.length === this.table.cells.length ? this.table.kept(key) : null;
  }
  /** A copy of a row with the layout's cells first and in its order, to be {@link put} after a change. */
  find(key) {
    const row = this.table.find(key);
    return row === void 0 || this.#isStraight ? row : this.#seen(row);
  }
  /** A row whose cells never opened, as {@link find} would give it. */
  blank() {
    return blankRow(this.#isStraight ? this.table.cells.length : this.places.length);
  }
  /** Writes what {@link find} gave; cells of other layouts stay as they are. */
  put(key, copy) {
    if (this.#isStraight) {
      this.table.put(key, copy);
      return;
    }
    const row = this.table.find(key) ?? blankRow(this.table.cells.length);
    for (const [index, place] of this.places.entries()) {
      row[PAIRS + 2 * place] = copy[PAIRS + 2 * index];
      row[PAIRS + 2 * place + 1] = copy[PAIRS + 2 * index + 1];
    }
    this.table.put(key, row);
  }
  #seen(row) {
    const seen2 = blankRow(this.places.length);
    for (const [index, place] of this.places.entries()) {
      seen2[PAIRS + 2 * index] = row[PAIRS + 2 * place];
      seen2[PAIRS + 2 * index + 1] = row[PAIRS + 2 * place + 1];
    }
    return seen2;
  }
}
const SWEEP_WHEN_FULL = 64;
class RowDecisions {
  layout;
  schema;
  open;
  #tables;
  #maxSubjects;
  /** One for each (layer, category), at `layer * categories + category`. */
  #views;
  /** A row that never opened, standing in for the rows that are not there. */
  #blank;
  /** Copied for each reply: copying an array of doubles is cheaper than growing one. */
  #statesByLayers;
  /** Copies of the rows of the request at hand, one a layer, and what lasts how long in them. */
  #rows = [];
  #spans = [];
  #isMissing = false;
  /** Where no window is of the calendar: the same at every instant. */
  #lasting;
  constructor(schema, tables, maxSubjects) {
    this.schema = schema;
    this.layout = new Layout(schema.cells);
    this.#tables = tables;
    this.#maxSubjects = maxSubjects;
    this.#views = schema.layers.flatMap(
      (layer) => schema.categories.map((category) => new TableView(this.#tables.of(layer.name, category), this.layout))
    );
    this.open = new OpenRows(schema, this.layout, this.#views);
    this.#blank = blankRow(this.layout.size);
    this.#statesByLayers = Array.from(
      { length: schema.layers.length + 1 },
      (_, layers) => Array.from({ length: this.layout.rowAt(layers) }, () => 0.5)
    );
    this.#lasting = this.layout.calendars.length === 0 ? this.layout.spansAt(0, void 0, 0) : void 0;
  }
  /** Charged in every row, or in none; throws before it writes when there is no room for new rows. */
  decide(request, now) {
    const { cost, hold, quotas } = request;
    const slot = hold?.slot === true;
    const { length } = quotas.layers;
    if (!this.#locate(request, now)) return { outcome: "stale", now, states: [] };
    if (cost === 0 && !slot) return { outcome: "admitted", now, states: this.#view(length, now) };
    if (!this.#fits(quotas, cost, slot, now)) return { outcome: "refused", now, states: this.#refuse(request, now) };
    this.#addRows(request, now);
    return { outcome: "admitted", now, states: this.#charge(request, now) };
  }
  /** Charges whatever the limits. */
  force(request, now) {
    const { layers } = request.quotas;
    if (!this.#locate(request, now)) return { outcome: "stale", now, states: [] };
    if (request.cost === 0) return { outcome: "admitted", now, states: this.#view(layers.length, now) };
    this.#addRows(request, now);
    return { outcome: "admitted", now, states: this.#charge(request, now) };
  }
  /** Tokens that fit into every window, 0 or more; `undefined`: the clock is outside of the periods. */
  room(request, now) {
    if (!this.#locate(request, now)) return void 0;
    const { layers, limits: limits2 } = request.quotas;
    let room = Number.POSITIVE_INFINITY;
    for (let l = 0; l < layers.length; l++) {
      const cells = this.#rows[l] ?? this.#blank;
      room = Math.min(room, roomIn(cells, PAIRS, this.#spans[l], limits2, this.layout.limitAt(l, 0), now));
    }
    return Math.max(0, room);
  }
  /** The states of rows as they are; `undefined`: the clock is outside of the periods. */
  look(request, now) {
    return this.#locate(request, now) ? this.#view(request.quotas.layers.length, now) : void 0;
  }
  /** Changes the rows that are there. */
  change({ subject, category, layers }, change) {
    for (const [slot, layer] of layers.entries()) {
      const view = this.#viewOf(layer, category);
      const key = this.keyOf(layer, subject);
      const row = view.find(key);
      if (row === void 0) continue;
      change(row, slot);
      view.put(key, row);
    }
  }
  /** The table of a layer and category, as the schema sees it. */
  viewOf(layer, category) {
    return this.#viewOf(layer, category);
  }
  keyOf(layer, subject) {
    return layerKey(this.schema.layers[layer], subject);
  }
  /** Whether the rows at hand have room in every one of them. */
  #fits({ layers, limits: limits2 }, cost, slot, now) {
    const layout = this.layout;
    for (let l = 0; l < layers.length; l++) {
      const cells = this.#rows[l] ?? this.#blank;
      if (cost > 0 && !fits$1(cells, PAIRS, this.#spans[l], limits2, layout.limitAt(l, 0), cost, now)) return false;
      if (slot && !slotFits(cells, PAIRS + 2 * layout.width, limits2[layout.limitAt(l, layout.width)])) return false;
    }
    return true;
  }
  /** Finds the rows of a request and their spans; `false`: the clock is outside of the periods. */
  #locate({ subject, category, quotas: { layers }, periods }, now) {
    this.#isMissing = false;
    for (let l = 0; l < layers.length; l++) {
      const row = this.#viewOf(layers[l], category).find(this.keyOf(layers[l], subject));
      this.#rows[l] = row;
      if (row === void 0) this.#isMissing = true;
      const spans = this.#lasting ?? this.layout.spansAt(now, periods, l);
      if (spans === void 0) return false;
      this.#spans[l] = spans;
    }
    return true;
  }
  /** Leaves the rows at hand as they are, but for starts in the far future; their states. */
  #refuse({ subject, category, cost, quotas: { layers } }, now) {
    for (let l = 0; l < layers.length; l++) {
      const row = this.#rows[l];
      if (row !== void 0 && cost > 0) reanchor(row, PAIRS, this.layout.width, now);
    }
    this.#putBack(layers, category, subject);
    return this.#view(layers.length, now);
  }
  /** Adds the rows that are missing; throws before it writes when there is no room. */
  #addRows({ category, quotas: { layers } }, now) {
    if (!this.#isMissing) return;
    for (let l = 0; l < layers.length; l++) {
      if (this.#rows[l] === void 0) this.#makeRoom(this.#viewOf(layers[l], category), now);
    }
    for (let l = 0; l < layers.length; l++) this.#rows[l] ??= this.#viewOf(layers[l], category).blank();
  }
  #makeRoom({ table }, now) {
    const max = this.#maxSubjects;
    if (table.size < max) return;
    table.sweep(now, SWEEP_WHEN_FULL);
    if (table.size < max) return;
    throw new QuotaError("store_full", `the memory store holds ${max} live subjects (maxSubjects)`);
  }
  /** Charges the rows at hand; their states thereafter. */
  #charge({ subject, category, cost, hold, quotas: { layers } }, now) {
    const layout = this.layout;
    const rows = this.#rows;
    const states = this.#statesByLayers[layers.length].slice();
    for (let l = 0; l < layers.length; l++) {
      const row = rows[l];
      const spans = this.#spans[l];
      if (cost > 0) chargeAndView(row, PAIRS, spans, cost, now, states, layout.rowAt(l));
      else viewRow(row, PAIRS, spans, now, states, layout.rowAt(l));
      if (layout.hasSlots) {
        if (hold?.slot === true) takeSlot(row, PAIRS + 2 * layout.width, now);
        viewSlots(row, PAIRS + 2 * layout.width, states, layout.cellAt(l, layout.width));
      }
    }
    this.#putBack(layers, category, subject);
    return states;
  }
  /** The states of the rows at hand. */
  #view(layers, now) {
    const layout = this.layout;
    const states = this.#statesByLayers[layers].slice();
    for (let l = 0; l < layers; l++) {
      const row = this.#rows[l] ?? this.#blank;
      viewRow(row, PAIRS, this.#spans[l], now, states, layout.rowAt(l));
      if (layout.hasSlots) viewSlots(row, PAIRS + 2 * layout.width, states, layout.cellAt(l, layout.width));
    }
    return states;
  }
  /** The rows at hand are those of the tables from now on. */
  #putBack(layers, category, subject) {
    for (let l = 0; l < layers.length; l++) {
      const row = this.#rows[l];
      if (row !== void 0) this.#viewOf(layers[l], category).put(this.keyOf(layers[l], subject), row);
    }
  }
  #viewOf(layer, category) {
    return this.#views[layer * this.schema.categories.length + category];
  }
}
const DECISIONS_PER_STEP = 8;
class MemoryCounters {
  holds;
  #shared;
  #rows;
  #decisions = 0;
  constructor(shared, schema) {
    this.#shared = shared;
    this.#rows = new RowDecisions(schema, shared.tables, shared.maxSubjects);
    this.holds = new MemoryHolds(shared, this.#rows);
  }
  take(request) {
    const now = this.#now();
    const reply = request.id === void 0 ? this.#rows.decide(request, now) : this.#takeOnce(request, request.id, now);
    this.#sweep(now);
    return reply;
  }
  takeOpen(subject, category, quotas, cost, settingsVersion) {
    const { clock, book } = this.#shared;
    const now = clock.now();
    if (book.firstEndsAt <= now || !Number.isSafeInteger(now)) return void 0;
    const reply = this.#rows.open.take(subject, category, quotas, cost, settingsVersion, now);
    if (reply !== void 0) this.#sweep(now);
    return reply;
  }
  #takeOnce(request, id, now) {
    const { ids, maxIds } = this.#shared;
    const key = idKey(this.#rows.schema, request.subject, request.category, id);
    const record = ids.find(key, now);
    if (record !== void 0) return repeated(record, id, now);
    if (!ids.hasRoom(maxIds, now)) {
      throw new QuotaError("store_full", `the memory store holds ${maxIds} live ids (maxIds)`);
    }
    if (request.hold !== void 0) return this.holds.take({ ...request, id, hold: request.hold }, key, now);
    const reply = this.#rows.decide(request, now);
    if (reply.outcome === "admitted") ids.write(key, id, "reserved", reply.states, now);
    return reply;
  }
  read({ subject, categories, layers, periods }) {
    const now = this.#now();
    const quotas = { layers, limits: [] };
    const states = categories.map((category) => this.#rows.look({ subject, category, quotas, periods }, now));
    const known = states.filter((state) => state !== void 0);
    return known.length === states.length ? { now, states: known } : { now, states: [], isStale: true };
  }
  settle(request) {
    const { states, giveBack, id } = request;
    const now = this.#now();
    if (id !== void 0 && !this.#settleOnce(request, id, now)) return;
    if (giveBack === 0) return;
    const { layout } = this.#rows;
    const startedAts = layout.startsOf(states);
    this.#rows.change(request, (row, l) => refund(row, PAIRS, layout.width, startedAts, layout.limitAt(l, 0), giveBack));
  }
  /** Marks an id settled; whether it was this nonce's to settle, and still open. */
  #settleOnce({ subject, category, as }, id, now) {
    const { ids } = this.#shared;
    const key = idKey(this.#rows.schema, subject, category, id);
    const record = ids.find(key, now);
    if (record === void 0 && as === "cancelled") ids.write(key, id, "cancelled", [], now);
    if (record?.state !== "reserved" || record.nonce !== id.nonce || record.hold !== void 0) return false;
    ids.write(key, id, as, record.states, now);
    return true;
  }
  reset({ subject, categories, layers }) {
    this.#now();
    const { width } = this.#rows.layout;
    for (const category of categories) {
      this.#rows.change({ subject, category, layers }, (row) => close(row, PAIRS, width));
    }
  }
  /** The instant of a call. What has ended by then is settled before anything is looked at. */
  #now() {
    const now = instantOf(this.#shared.clock);
    this.#shared.book.endDue(now);
    return now;
  }
  /**
   * Forgets a little of what has ended, as a part of every few decisions, however they came out. In every table: one that
   * is asked no more, or by every eighth decision alone, has ended rows as well.
   */
  #sweep(now) {
    this.#decisions++;
    if (this.#decisions % DECISIONS_PER_STEP !== 0) return;
    this.#shared.tables.step(now);
    this.#shared.ids.step(now);
  }
}
function repeated(record, id, now) {
  const { state, states, hold } = record;
  if (record.fingerprint !== id.fingerprint) return { outcome: "conflict", now, states: [] };
  if (state === "cancelled") return { outcome: "cancelled", now, states: [] };
  if (record.nonce !== id.nonce) return { outcome: "duplicate", now, states: [] };
  if (state === "expired") return { outcome: "expired", now, states: [] };
  return hold === void 0 ? { outcome: "admitted", now, states } : { outcome: "admitted", now, states, endsAt: hold.endsAt };
}
const WINDOWS = "windows are part of the policy, { label, lengthMs } each";
const LIMITS = "limits are part of the policy, as in defaultPolicy({ base })";
const SUBJECT = "who asks is the subject of a request, or subject(req) of quotaMiddleware()";
const AWAY = "what happens without a store is failurePolicy of createQuota(), by category";
const NEEDLESS = "a refusal costs nothing here, so that it needs no blocking";
const OF_POLICY = "that is part of the policy: give it to defaultPolicy() or write it in `policy`";
const COUNTED = "requests that end with a status of 400 or above get their tokens back by themselves";
const NAMES_ELSEWHERE = {
  windowMs: WINDOWS,
  timeWindow: WINDOWS,
  duration: WINDOWS,
  interval: WINDOWS,
  per: "one limit alone is simpleQuota({ limit, per }); windows are part of the policy",
  max: LIMITS,
  limit: LIMITS,
  points: LIMITS,
  limits: LIMITS,
  tokensPerInterval: LIMITS,
  keyGenerator: SUBJECT,
  key: SUBJECT,
  passOnStoreError: AWAY,
  skipOnError: AWAY,
  insuranceLimiter: AWAY,
  skipFailedRequests: COUNTED,
  requestWasSuccessful: COUNTED,
  skipSuccessfulRequests: "a request that succeeded stays charged; its handler may call req.quota.cancel()",
  legacyHeaders: "X-RateLimit headers are not sent; standardHeaders of quotaMiddleware() sends RateLimit",
  blockDuration: NEEDLESS,
  inMemoryBlockOnConsumed: NEEDLESS,
  allowList: "skip(req) of quotaMiddleware() lets requests pass unmetered",
  statusCode: "handler of quotaMiddleware() answers in its place",
  message: "messages of quotaMiddleware() are the texts of a 429, by locale",
  keyPrefix: "the beginning of every key is `prefix` of redisStore()",
  storeClient: "a client of Redis is `client` of redisStore()",
  redis: "a client of Redis is `client` of redisStore()",
  sendCommand: "a client of Redis is `client` of redisStore()",
  windows: OF_POLICY,
  operations: OF_POLICY,
  base: OF_POLICY
};
function optionsParser(call, checks, { words = {}, between } = {}) {
  const made2 = once(() => schemaOf(checks()));
  const known = { ...NAMES_ELSEWHERE, ...words };
  return (options) => {
    const mistaken = inPlaceOfOptions(call, made2().checks, options);
    if (mistaken !== void 0) throw refusedOptions(call, [{ path: "", message: mistaken }]);
    const { value, faults } = checked(made2().schema, options, known);
    const found = faults ?? between?.(value) ?? [];
    if (found.length > 0) throw refusedOptions(call, found);
    return value;
  };
}
function refusedOptions(call, faults) {
  return faultyDocument("invalid_options", `options of ${call}`, faults);
}
function schemaOf(checks) {
  return { checks, schema: group(checks) };
}
function inPlaceOfOptions(call, checks, given) {
  if (typeof given === "object" && given !== null) {
    const keys = Object.keys(given);
    if (keys.some((key) => Object.hasOwn(checks, key))) return void 0;
    if (keys.length === 0 && isPlain(given)) return void 0;
  }
  const names = Object.keys(checks);
  const required = names.filter((name) => !fits(checks[name], void 0));
  const fitting = typeof given === "object" || typeof given === "function" ? names.filter((name) => belongs(checks[name], given)) : [];
  const meant = fitting.find((name) => required.includes(name)) ?? fitting[0];
  if (meant !== void 0) {
    const needed = required.includes(meant) ? required : [...required, meant];
    return `expected an object, got what belongs in "${meant}": write ${written(call, needed)}`;
  }
  if (isPlain(given)) return void 0;
  return `expected an object, ${written(call, required)}, got ${kindOf(given)}`;
}
function written(call, names) {
  const inside = names.length === 0 ? "{ ... }" : `{ ${names.join(", ")} }`;
  return call.endsWith("()") ? `${call.slice(0, -1)}${inside})` : inside;
}
function belongs(check2, value) {
  return fits(check2, value) && !fits(check2, {});
}
function fits(check2, value) {
  return faultsOf(check2, value).length === 0;
}
const parse$1 = /* @__PURE__ */ optionsParser(
  "memoryStore()",
  () => ({
    clock: optional(aClock()),
    maxSubjects: withDefault(wholeNumber(1, Number.MAX_SAFE_INTEGER), 1e6),
    maxIds: withDefault(wholeNumber(1, Number.MAX_SAFE_INTEGER), 5e5)
  }),
  { words: { max: "the bounds are `maxSubjects` and `maxIds`", maxKeys: "the bound is `maxSubjects`" } }
);
function parseMemoryStoreOptions(options) {
  return parse$1(options);
}
const SNAPSHOT_PART_ROWS = 1e3;
const isText = (value) => typeof value === "string";
const text = (what) => where(isText, what);
const listOfAny = (check2) => listOf(check2, 0, Number.MAX_SAFE_INTEGER);
function isCells(value) {
  return Array.isArray(value) && value.every((cell) => Number.isSafeInteger(cell) && cell >= -1);
}
function isRow(value) {
  if (!Array.isArray(value) || value.length !== 3) return false;
  const [table, key, cells] = value;
  return Number.isSafeInteger(table) && table >= 0 && isText(key) && isCells(cells);
}
function isIdEntry(value) {
  return Array.isArray(value) && value.length === 2 && isText(value[0]) && isIdRecord(value[1]);
}
function isIdRecord(value) {
  const { state, nonce, fingerprint, states, expiresAt, hold } = Object(value);
  const isPlain2 = isText(nonce) && isText(fingerprint) && isCells(states) && Number.isSafeInteger(expiresAt);
  return STATES.includes(state) && isPlain2 && (hold === void 0 || isHold(hold));
}
const STATES = ["reserved", "committed", "cancelled", "expired"];
function isHold(value) {
  const { category, owner, tokens, slot, takenAt, endsAt, ttlMs, rows, answer } = Object(value);
  const numbers = [tokens, takenAt, endsAt, ttlMs, ...Object.values(Object(answer))];
  return isText(category) && isText(owner) && typeof slot === "boolean" && numbers.every((each) => Number.isSafeInteger(each) && each >= 0) && Array.isArray(rows) && rows.every(isHoldRow);
}
function isHoldRow(value) {
  const { layer, key, charged } = Object(value);
  return isText(layer) && isText(key) && isCells(charged);
}
function isFirstSchema(value) {
  if (!Array.isArray(value) || value.length !== 3 || !value.every(Array.isArray)) return false;
  const [windows, categories, layers] = value;
  return windows.every((window) => isText(window?.label) && Number.isSafeInteger(window.lengthMs)) && categories.every(isText) && layers.every((layer) => isText(layer?.name));
}
const schemas = /* @__PURE__ */ once(() => {
  const rows = listOfAny(where(isRow, "a row, [table, key, numbers]"));
  const ids = listOfAny(where(isIdEntry, "the record of an id, [key, record]"));
  const cells = listOfAny(text("the identity of a limit"));
  const names = { layer: text("the name of a layer"), category: text("the name of a category") };
  return {
    now: group({
      format: where((value) => value === 3, "3"),
      tables: listOfAny(group({ ...names, cells })),
      rows,
      ids
    }),
    second: group({
      format: where((value) => value === 2, "2"),
      tables: listOfAny(group({ ...names, windows: cells })),
      rows,
      ids
    }),
    first: group({ schema: text("what the rows are of"), rows, ids }),
    firstSchema: where(isFirstSchema, "windows, categories and layers in `schema`")
  };
});
function parseSnapshotPart(part) {
  if (isText(part)) {
    const message = "expected a part of a snapshot, got text: JSON.parse() it first";
    throw faultyDocument("invalid_options", "snapshot", [{ path: "", message }]);
  }
  const parsed2 = isFirstFormat(part) ? fromFirstFormat(part) : fromLaterFormat(part);
  const faults = parsed2.rows.flatMap(([table, , numbers], index) => {
    const { cells } = parsed2.tables[table] ?? {};
    const message = cells === void 0 ? `no such table: ${table}` : `expected ${2 * cells.length} numbers`;
    return numbers.length === (cells?.length ?? Number.NaN) * 2 ? [] : [{ path: `rows.${index}`, message }];
  });
  if (faults.length > 0) throw faultyDocument("invalid_options", "snapshot", faults);
  return parsed2;
}
function fromLaterFormat(part) {
  if (part?.format !== 2) return check$1(schemas().now, part);
  const { tables, rows, ids } = check$1(schemas().second, part);
  const named = tables.map(({ layer, category, windows }) => ({ layer, category, cells: windows }));
  return { format: 3, tables: named, rows, ids };
}
function isFirstFormat(part) {
  return typeof part === "object" && part !== null && "schema" in part;
}
function fromFirstFormat(part) {
  const { schema, rows } = check$1(schemas().first, part);
  const [windows, categories, layers] = check$1(schemas().firstSchema, jsonOf(schema));
  const cells = windows.map((window) => windowCell(window).identity);
  const tables = layers.flatMap(({ name }) => categories.map((category) => ({ layer: name, category, cells })));
  return { format: 3, tables, rows, ids: [] };
}
function jsonOf(text2) {
  try {
    return JSON.parse(text2);
  } catch {
    return void 0;
  }
}
function check$1(schema, part) {
  const { value, faults } = checked(schema, part);
  if (faults !== void 0) throw faultyDocument("invalid_options", "snapshot", faults);
  return value;
}
class Tables {
  #tables = /* @__PURE__ */ new Map();
  get size() {
    let size = 0;
    for (const { table } of this.#tables.values()) size += table.size;
    return size;
  }
  of(layer, category) {
    const key = JSON.stringify([layer, category]);
    const known = this.#tables.get(key);
    if (known !== void 0) return known.table;
    const table = new RowTable();
    this.#tables.set(key, { layer, category, table });
    return table;
  }
  /** Looks at a few rows of each table where any can have ended, and forgets those that have. */
  step(now) {
    for (const { table } of this.#tables.values()) table.step(now);
  }
  entries() {
    return this.#tables.values();
  }
}
function memoryStore(options = {}) {
  const { clock = systemClock, maxSubjects, maxIds } = parseMemoryStoreOptions(options);
  const tables = new Tables();
  const ids = new IdRecords();
  return new Store2({ clock, maxSubjects, maxIds, tables, ids, book: new HoldBook(tables, ids) });
}
class Store2 {
  sync = true;
  can = { calendar: true, holds: true, concurrency: "all", fit: true };
  #shared;
  constructor(shared) {
    this.#shared = shared;
  }
  get size() {
    return this.#shared.tables.size;
  }
  open(schema) {
    return new MemoryCounters(this.#shared, schema);
  }
  *snapshot() {
    const { tables, ids, clock, book } = this.#shared;
    const now = instantOf(clock);
    book.endDue(now);
    const all = [...tables.entries()];
    const described = all.map(({ layer, category, table }) => ({
      layer,
      category,
      cells: table.cells.map(({ identity }) => identity)
    }));
    let rows = [];
    for (const [index, { table }] of all.entries()) {
      const length = 2 * described[index].cells.length;
      for (const [key, cells] of table.rows(now)) {
        rows.push([index, key, cells.slice(0, length)]);
        if (rows.length < SNAPSHOT_PART_ROWS) continue;
        yield { format: 3, tables: described, rows, ids: [] };
        rows = [];
      }
    }
    let records = [];
    for (const [key, record] of ids.entries(now)) {
      records.push([key, record]);
      if (rows.length + records.length < SNAPSHOT_PART_ROWS) continue;
      yield { format: 3, tables: described, rows, ids: records };
      rows = [];
      records = [];
    }
    if (rows.length + records.length > 0) yield { format: 3, tables: described, rows, ids: records };
  }
  restore(part) {
    const parsed2 = parseSnapshotPart(part);
    const { tables, ids, clock, book } = this.#shared;
    const now = instantOf(clock);
    this.#makeRoom(parsed2, now);
    const targets = parsed2.tables.map(({ layer, category, cells }) => {
      const table = tables.of(layer, category);
      return { layer, category, table, places: placesIn(table, cells) };
    });
    for (const [index, key, cells] of parsed2.rows) {
      const { table, places } = targets[index];
      if (table.kept(key) !== void 0) continue;
      const row = blankRow(table.cells.length);
      copyPairs(cells, places, row, PAIRS);
      table.put(key, row);
    }
    for (const [key, record] of parsed2.ids) {
      if (ids.find(key, now) !== void 0) continue;
      const { hold } = record;
      if (hold === void 0) {
        ids.put(key, record);
        continue;
      }
      const rows = hold.rows.map((row) => {
        const target = targets.find(({ layer, category }) => layer === row.layer && category === hold.category);
        if (target === void 0) return { ...row, charged: [] };
        const charged = target.table.cells.flatMap(() => [NOT_OPEN, 0]);
        copyPairs(row.charged, target.places, charged, 0);
        return { ...row, charged };
      });
      const taken = { ...record, hold: { ...hold, rows } };
      if (record.state === "reserved") book.putOpen(key, taken);
      else ids.put(key, taken);
    }
  }
  /** Asked before anything is taken over, so that a part is never half kept. What has ended makes way. */
  #makeRoom({ tables, rows, ids }, now) {
    const { maxSubjects, maxIds } = this.#shared;
    for (const [index, { layer, category }] of tables.entries()) {
      const table = this.#shared.tables.of(layer, category);
      const added2 = rows.filter(([of, key]) => of === index && table.kept(key) === void 0).length;
      if (table.size + added2 > maxSubjects) table.sweep(now, 2 * table.size);
      if (table.size + added2 > maxSubjects) throw noRoom(`${maxSubjects} subjects (maxSubjects)`);
    }
    const records = this.#shared.ids;
    const added = ids.filter(([key]) => !records.has(key)).length;
    if (records.size + added > maxIds) records.sweep(now, 2 * records.size);
    if (records.size + added > maxIds) throw noRoom(`${maxIds} ids (maxIds)`);
  }
}
function placesIn(table, identities) {
  return identities.map((identity) => {
    const cell = cellOfIdentity(identity);
    return cell && table.placesOf([cell])[0];
  });
}
function copyPairs(from, places, to, at) {
  for (const [i, place] of places.entries()) {
    if (place === void 0 || from[2 * i] === void 0) continue;
    to[at + 2 * place] = from[2 * i];
    to[at + 2 * place + 1] = from[2 * i + 1];
  }
}
function noRoom(bound) {
  return new QuotaError("store_full", `the part of a snapshot does not fit into ${bound}`);
}
class Decider {
  #parts;
  constructor(parts) {
    this.#parts = parts;
  }
  /** @throws {QuotaError} for what a programmer got wrong */
  asked(request) {
    return this.#parts.check.request(request, this.#parts.live.compiled);
  }
  /** The decision of an answer, told to those who listen; without an answer, what the failure policy says. */
  decision(asked, startedAtMs, answer) {
    const { frames, telling, fallback, post } = this.#parts;
    if (answer instanceof NoAnswer) return fallback.admit(asked, startedAtMs, answer).decision;
    const frame = frames[asked.category];
    const decision = answer.outcome === "admitted" ? admitted(asked, answer, frame, "store") : refused(asked, answer, frame);
    if (fallback.remembers) for (const posting of fallback.seen(asked, answer)) post(posting);
    telling.decided(decision, asked, startedAtMs);
    return decision;
  }
  /** The same for a reservation. */
  reservation(asked, startedAtMs, answer, { id, hold }) {
    if (answer instanceof NoAnswer) {
      const { decision: decision2, giveBack } = this.#parts.fallback.admit(asked, startedAtMs, answer);
      const settlement2 = (tokens) => {
        const posting = giveBack(tokens);
        return posting && { ...posting, as: "committed" };
      };
      return { kind: "held", asked, decision: decision2, settlement: settlement2, hasId: false, isUnrecorded: hold !== void 0 };
    }
    const { outcome, states, endsAt } = answer;
    if (outcome === "duplicate" || outcome === "cancelled" || outcome === "expired") {
      return { kind: "repeated", status: outcome };
    }
    if (outcome === "too_many_holds") {
      const message = `the subject has ${hold.maxHolds} open holds (maxHolds): settle them, or let them end`;
      throw new QuotaError("too_many_holds", message);
    }
    if (outcome === "conflict") {
      throw new QuotaError("id_conflict", `the id was used for another operation or cost than "${asked.operation}"`);
    }
    const decision = this.decision(asked, startedAtMs, answer);
    if (!decision.allowed) return { kind: "refused", decision };
    const { subject, category } = asked;
    const { layers } = answer.quotas;
    const settlement = (giveBack, as) => {
      return { subject, category, layers, states, giveBack, as, id };
    };
    const held = hold === void 0 ? void 0 : this.#parts.held(asked, id, hold.ttlMs, endsAt);
    return { kind: "held", asked, decision, settlement, hasId: id !== void 0, hold: held };
  }
  /** The same as a reservation. */
  freely(asked) {
    return { kind: "held", asked, decision: this.free(asked), settlement: () => void 0, hasId: false };
  }
  /** What costs nothing is admitted, and no counter is asked. */
  free(asked) {
    const { live, clock, frames } = this.#parts;
    const { settings, defaults } = live.compiled;
    const quotas = (this.#knownTo(asked) ?? defaults)[asked.category];
    const periods = this.#parts.periods.of(quotas);
    const counted = { now: clock.now(), states: [], quotas, periods, settingsVersion: settings.version };
    return admitted(asked, counted, frames[asked.category], "free");
  }
  /** Settings that cannot be read hold up nothing that is free. */
  #knownTo({ subject, plan }) {
    try {
      return this.#parts.live.known(subject, plan);
    } catch {
      return void 0;
    }
  }
  /** What a request would be answered, by a look at the counters. */
  foreseen(asked, quotas, { periods }, { now, states: [states] }) {
    const { frames, live } = this.#parts;
    const frame = frames[asked.category];
    const settingsVersion = live.compiled.settings.version;
    const counted = { now, states, quotas, periods, settingsVersion, isLook: true };
    return admits(frame, counted, asked) ? admitted(asked, counted, frame, "store") : refused(asked, counted, frame);
  }
  /** The look that {@link foreseen} needs. */
  lookFor({ subject, category }, quotas) {
    const { layers } = quotas;
    return { subject, categories: [category], layers, periods: this.#parts.periods.of(quotas) };
  }
  /** The look that {@link status} needs. */
  lookAt(subject, quotas) {
    const { layers } = quotas[0];
    return { subject, categories: [...quotas.keys()], layers, periods: this.#parts.periods.of(quotas[0]) };
  }
  /** @param holds the subject's open holds */
  status(subject, quotas, { periods }, { now, states }, holds) {
    const { frames, live } = this.#parts;
    const entries = frames.map((frame, category) => {
      const looked = { now, states: states[category], quotas: quotas[category], periods };
      const windows = windowStatuses(frame, looked);
      const ofCategory = holds.filter((hold) => hold.category === category);
      return [frame.category, ofCategory.length === 0 ? windows : withHeld(windows, frame, ofCategory)];
    });
    const settingsVersion = live.compiled.settings.version;
    return { subject, now, settingsVersion, windows: Object.fromEntries(entries) };
  }
}
function withHeld(windows, { layout, layers }, holds) {
  const own = layers.find(({ shared }) => !shared).name;
  return windows.map((status) => {
    if (status.layer !== own) return status;
    const cell = layout.cells.findIndex(({ label }) => label === status.window);
    const isSame = (startedAt) => status.kind === "concurrency" || startedAt === status.startedAt;
    const tokens = holds.map(({ charged }) => isSame(charged[2 * cell]) ? charged[2 * cell + 1] : 0);
    const held = Math.min(
      status.used,
      tokens.reduce((sum, each) => sum + each, 0)
    );
    return held > 0 ? { ...status, held } : status;
  });
}
class Events {
  #listeners = /* @__PURE__ */ new Map();
  /** Whether anybody listens to decisions; kept as a field, since every decision asks. */
  hearsDecisions = false;
  /** Whether anybody wants to know how long decisions take; a field for the same reason. */
  hearsTimes = false;
  hears(event) {
    return (this.#listeners.get(event)?.size ?? 0) > 0;
  }
  /** @throws {QuotaError} `invalid_options` for an event that there is not, or a listener that is no function */
  on(event, listener) {
    checkListener(event, listener);
    const listeners = this.#listeners.get(event) ?? /* @__PURE__ */ new Set();
    this.#listeners.set(event, listeners);
    listeners.add(listener);
    this.#count();
    return () => {
      listeners.delete(listener);
      this.#count();
    };
  }
  /** Tells all listeners. One that throws is an uncaught error of its own, never a failed decision. */
  tell(event, payload) {
    for (const listener of this.#listeners.get(event) ?? []) {
      try {
        ;
        listener(payload);
      } catch (error) {
        queueMicrotask(() => {
          throw error;
        });
      }
    }
  }
  clear() {
    this.#listeners.clear();
    this.#count();
  }
  #count() {
    this.hearsTimes = this.hears("decided");
    this.hearsDecisions = OF_DECISIONS.some((event) => this.hears(event));
  }
}
const OF_DECISIONS = ["decided", "admitted", "refused", "shadowed", "nearLimit"];
const NAMES = {
  admitted: true,
  refused: true,
  nearLimit: true,
  shadowed: true,
  settings: true,
  settingsFault: true,
  unknownPlan: true,
  holdEnded: true,
  overrun: true,
  degraded: true,
  decided: true
};
function checkListener(event, listener) {
  if (typeof event !== "string" || !Object.hasOwn(NAMES, event)) {
    const message = `on(): no event ${noSuchName(event, Object.keys(NAMES), "there are")}`;
    throw new QuotaError("invalid_options", message);
  }
  if (typeof listener === "function") return;
  throw new QuotaError("invalid_options", `on("${event}", listener): expected a function, got ${kindOf(listener)}`);
}
const MAX_SEEN = 1e4;
const MAX_SPENT = 5e4;
class LocalShares {
  #layout;
  #layers;
  #clock;
  /** In the order of the last sight. */
  #seen = /* @__PURE__ */ new Map();
  /** By row, window and the start of the window. */
  #spent = /* @__PURE__ */ new Map();
  /** By the windows they go to. */
  #postings = /* @__PURE__ */ new Map();
  constructor({ cells, layers }, clock) {
    this.#layout = new Layout(cells);
    this.#layers = layers;
    this.#clock = clock;
  }
  /** Remembers what the store said. */
  see({ subject, category }, { now, states, quotas, periods }) {
    const seenAt = this.#clock.now();
    for (const [l, layer] of quotas.layers.entries()) {
      const key = this.#rowKey(layer, category, subject);
      this.#seen.delete(key);
      this.#seen.set(key, {
        seenAt,
        storeNow: now,
        states: this.#layout.rowOf(states, l),
        limits: this.#layout.limitsOf(quotas.limits, l),
        ends: this.#layout.lengthsMs.map((_, w) => this.#endOf(l, w, states, periods))
      });
    }
    while (this.#seen.size > MAX_SEEN) this.#seen.delete(this.#seen.keys().next().value);
  }
  /**
   * Spends a cost of the shares of every window of the layers, or of none.
   *
   * @returns how to give the tokens back (once, at most the cost), or `undefined` where some share does not suffice
   */
  spend({ subject, category, cost }, layers, expectedProcesses) {
    const rows = layers.map((layer) => this.#openRow(layer, category, subject, expectedProcesses));
    const spents = rows.flatMap((row) => row?.spents ?? []);
    const known = rows.every((row) => row !== void 0);
    if (!known || spents.some((spent) => spent.tokens + cost > spent.shareTokens)) return void 0;
    const states = rows.flatMap((row) => row.states);
    const key = JSON.stringify([layers, category, subject, states]);
    this.#post(key, { subject, category, layers, states, giveBack: -cost });
    for (const spent of spents) spent.tokens += cost;
    const posted = this.#postings;
    return (tokens) => {
      if (posted !== this.#postings) return { subject, category, layers, states, giveBack: tokens };
      this.#post(key, { subject, category, layers, states, giveBack: tokens });
      for (const spent of spents) spent.tokens -= tokens;
      return void 0;
    };
  }
  /** What was spent since the last call, for the store; posted once, whether that arrives or not. */
  takePostings() {
    if (this.#postings.size === 0) return [];
    const postings = [...this.#postings.values()].filter(({ giveBack }) => giveBack !== 0);
    this.#postings = /* @__PURE__ */ new Map();
    return postings;
  }
  #post(key, posting) {
    const before = this.#postings.get(key)?.giveBack ?? 0;
    this.#postings.set(key, { ...posting, giveBack: before + posting.giveBack });
  }
  /** The windows of a row that was seen open and are open still; `undefined` where one is not. */
  #openRow(layer, category, subject, expectedProcesses) {
    const key = this.#rowKey(layer, category, subject);
    const share = this.#seen.get(key);
    if (share === void 0) return void 0;
    const spents = [];
    for (let w = 0; w < this.#layout.width; w++) {
      const cell = this.#layout.cellAt(0, w);
      const startedAt = share.states[cell];
      const endsAt = share.seenAt + (share.ends[w] - share.storeNow);
      if (startedAt === NOT_OPEN || this.#clock.now() >= endsAt) return void 0;
      const remainder = Math.max(0, share.limits[w] - share.states[cell + 1]);
      spents.push(this.#spentOf(`${key} ${w} ${startedAt}`, Math.floor(remainder / expectedProcesses), endsAt));
    }
    return { states: share.states, spents };
  }
  /** When a window of a state ends by the store's clock. */
  #endOf(slot, window, states, periods) {
    const startedAt = states[this.#layout.cellAt(slot, window)];
    if (startedAt === NOT_OPEN) return NOT_OPEN;
    const index = this.#layout.calendars.indexOf(window);
    if (index === -1) return startedAt + this.#layout.lengthsMs[window];
    return periodAt(startedAt, periods, this.#layout.periodsAt(slot) + PERIOD_NUMBERS * index)?.end ?? startedAt;
  }
  /** The share of a window is fixed when it is first asked for, and a later outage does not renew it. */
  #spentOf(key, shareTokens, endsAt) {
    const known = this.#spent.get(key);
    if (known !== void 0) return known;
    if (this.#spent.size >= MAX_SPENT) this.#forgetEnded();
    const hasRoom = this.#spent.size < MAX_SPENT;
    const spent = { shareTokens: hasRoom ? shareTokens : 0, tokens: 0, endsAt };
    if (hasRoom) this.#spent.set(key, spent);
    return spent;
  }
  #forgetEnded() {
    const now = this.#clock.now();
    for (const [key, { endsAt }] of this.#spent) if (now >= endsAt) this.#spent.delete(key);
  }
  #rowKey(layer, category, subject) {
    return JSON.stringify([layer, category, layerKey(this.#layers[layer], subject)]);
  }
}
class Fallback {
  #parts;
  /** Kept only where some category decides locally. */
  #shares;
  constructor(parts) {
    this.#parts = parts;
    const isLocal = Object.values(parts.failurePolicy).some((policy) => typeof policy === "object");
    this.#shares = isLocal ? new LocalShares(storeSchema(parts.policy), parts.clock) : void 0;
  }
  /** Whether {@link seen} wants to hear of every answer. */
  get remembers() {
    return this.#shares !== void 0;
  }
  /** The store answers: remembers what it said. What was spent while it did not is to be posted to it. */
  seen(asked, answer) {
    if (this.#shares === void 0) return NOTHING;
    this.#shares.see(asked, answer);
    return this.#shares.takePostings().map((posting) => ({ ...posting, as: "committed" }));
  }
  /** @throws {QuotaError} `quota_unavailable` where the policy admits nothing */
  admit(asked, startedAtMs, { error, quotas, ofSettings }) {
    const { policy, frames, failurePolicy, clock, live, periods, telling } = this.#parts;
    const what = failurePolicy[policy.categories[asked.category]] ?? "closed";
    const takeBack = typeof what === "object" ? this.#spend(asked, quotas.layers, what.local) : void 0;
    const allowed = what === "open" || takeBack !== void 0;
    telling.degraded(asked, startedAtMs, allowed, error);
    if (!allowed) throw unavailable(error, ofSettings ? "the settings store" : "the quota store");
    const settingsVersion = live.compiled.settings.version;
    const counted = { now: clock.now(), states: [], quotas, periods: periods.of(quotas), settingsVersion };
    const decision = admitted(asked, counted, frames[asked.category], "fallback");
    return { decision, giveBack: (tokens) => takeBack?.(tokens) };
  }
  #spend(asked, layers, { expectedProcesses }) {
    if (asked.slot) return void 0;
    return this.#shares?.spend(asked, layers, expectedProcesses);
  }
}
const NOTHING = [];
function decisionFrames(policy) {
  const { layers, categories } = policy;
  const layout = new Layout(policyCells(policy));
  return categories.map((category) => ({
    layout,
    layers,
    category,
    shownAs: layers.map(({ name }) => {
      const labels = limitLabels(policy).filter((label) => hasLimit(policy, name, category, label));
      return labels.map((label) => layout.cells.findIndex((cell) => cell.label === label));
    })
  }));
}
class LivePeriods {
  /** In the order of a row. */
  #windows;
  #calendar;
  /** The store's time as it was last heard, epoch milliseconds; before that the process's. */
  #heardAt;
  /** Of subjects without anchors of their own, by how many layers apply. */
  #shared = [];
  /** By a subject's quotas. */
  #own = /* @__PURE__ */ new WeakMap();
  /** When the first period of any that is known ends. */
  #until = Number.POSITIVE_INFINITY;
  constructor({ windows }, calendar, now) {
    const inRow = inRowOrder(windows.map((window) => ({ ...windowCell(window), window })));
    this.#windows = inRow.flatMap(({ window }) => window.every === void 0 ? [] : [window]);
    this.#calendar = calendar;
    this.#heardAt = now;
  }
  /** What goes with a request, see `TakeRequest.periods`; `undefined` where no window is of the calendar. */
  of(quotas) {
    if (this.#windows.length === 0) return void 0;
    const { layers, anchors } = quotas;
    if (anchors !== void 0) {
      const own = this.#own.get(quotas) ?? this.#compute(anchors);
      this.#own.set(quotas, own);
      return own.periods;
    }
    const shared = this.#shared[layers.length] ?? this.#compute(layers.map(() => null));
    this.#shared[layers.length] = shared;
    return shared.periods;
  }
  /** The store's time was `now`: from the second period on the next two are computed, before they are needed. */
  heard(now) {
    if (now >= this.#until) this.stale(now);
  }
  /** The store's time was outside of the periods that it was told. */
  stale(now) {
    this.#heardAt = now;
    this.#shared = [];
    this.#own = /* @__PURE__ */ new WeakMap();
    this.#until = Number.POSITIVE_INFINITY;
  }
  #compute(anchors) {
    const each = anchors.flatMap((anchor) => this.#windows.map((window) => this.#periodsOf(window, anchor)));
    const until = Math.min(...each.map(([, end]) => end));
    this.#until = Math.min(this.#until, until);
    return { periods: each.flat(), until };
  }
  #periodsOf(window, anchor) {
    return this.#calendar.periods(window, this.#heardAt, window.anchor === "subject" ? anchor : null);
  }
}
function endedAt({ until }, now) {
  return { overrides: isOver(until.overrides, now), plan: isOver(until.plan, now) };
}
function isOver(until, now) {
  return until !== null && now >= until;
}
function inForceAt(settings, now) {
  const ended = endedAt(settings, now);
  return {
    ...settings,
    overrides: ended.overrides ? {} : settings.overrides,
    plan: ended.plan ? null : settings.plan
  };
}
class KnownQuotas {
  /** Whether some part of the settings ends at some time. */
  ends;
  #usual;
  #others;
  #next;
  /** The next layer where the subject has no settings. */
  #without;
  constructor(ends = false) {
    this.ends = ends;
  }
  /** What is known of a subject with these settings. */
  of(layers, subjects) {
    let known = this;
    for (const layer of layers) known = known.#following(Object.hasOwn(subjects, layer) ? subjects[layer] : void 0);
    return known;
  }
  /** A variant that was worked out and does not end; `undefined`: there is none. */
  lasting(variant) {
    if (this.ends) return void 0;
    return variant === "" ? this.#usual : this.#others?.get(variant);
  }
  /**
   * @param variant what tells these quotas from those of the same settings, `''`: nothing
   * @param work makes them when they are first asked for
   */
  quotas(variant, work) {
    if (variant === "") {
      this.#usual ??= work();
      return this.#usual;
    }
    this.#others ??= /* @__PURE__ */ new Map();
    const known = this.#others.get(variant);
    if (known !== void 0) return known;
    const quotas = work();
    this.#others.set(variant, quotas);
    return quotas;
  }
  #following(settings) {
    if (settings === void 0) {
      this.#without ??= new KnownQuotas(this.ends);
      return this.#without;
    }
    this.#next ??= /* @__PURE__ */ new WeakMap();
    const known = this.#next.get(settings);
    if (known !== void 0) return known;
    const { overrides, plan } = settings.until;
    const next = new KnownQuotas(this.ends || overrides !== null || plan !== null);
    this.#next.set(settings, next);
    return next;
  }
}
class CompiledSettings {
  settings;
  operations;
  /** Quotas of subjects without settings of their own and without a plan, by category. */
  defaults;
  #terms;
  #ownLayers;
  #plans;
  #known = new KnownQuotas();
  /** @param factorHundredths the adaptive factor; counts in mode `adaptive` alone */
  constructor(policy, settings, factorHundredths = 100) {
    this.settings = settings;
    this.#terms = { policy, cells: policyCells(policy), settings, factorHundredths };
    this.#ownLayers = policy.layers.filter((layer) => !layer.shared).map(({ name }) => name);
    this.#plans = new Set(planNames(policy, settings));
    this.defaults = effectiveQuotas(this.#terms);
    this.operations = new Map(Object.keys(policy.operations).map((name) => [name, compiled(policy, settings, name)]));
  }
  /** As {@link quotasOf}, where that was worked out before and lasts; else `undefined`. */
  lastingOf(subjects, plan) {
    if (plan === "") return void 0;
    return this.#known.of(this.#ownLayers, subjects).lasting(plan ?? "");
  }
  /**
   * Quotas by category of a subject with settings in some layers, and with the plan that its request names: the same
   * objects for the same settings and plan, as long as nothing that they follow from has ended.
   *
   * @param clock asked only where the settings say until when they are in force
   * @param unknown hears of a plan that there is not: of the request's always, of the settings' when they are worked out
   */
  quotasOf(subjects, plan, clock, unknown) {
    const known = this.#known.of(this.#ownLayers, subjects);
    const isUnknown = plan !== void 0 && !this.#plans.has(plan);
    if (isUnknown) unknown(plan, "request");
    const named = isUnknown ? void 0 : plan;
    const worked = (inForce2) => {
      for (const { plan: stored } of Object.values(inForce2)) {
        if (stored !== null && !this.#plans.has(stored)) unknown(stored, "settings");
      }
      return effectiveQuotas(this.#terms, { subjects: inForce2, plan: named });
    };
    if (!known.ends) return known.quotas(named ?? "", () => worked(subjects));
    const now = clock.now();
    const ended = this.#ownLayers.map((layer) => endedKey(ownOf(subjects, layer), now)).join("");
    const inForce = () => Object.fromEntries(Object.entries(subjects).map(([layer, each]) => [layer, inForceAt(each, now)]));
    return known.quotas(`${ended} ${named ?? ""}`, () => worked(inForce()));
  }
}
function endedKey(settings, now) {
  if (settings === void 0) return "-";
  const { overrides, plan } = endedAt(settings, now);
  return `${overrides ? 1 : 0}${plan ? 1 : 0}`;
}
function compiled(policy, settings, name) {
  const { category, overrun = "refuse", maxOverrun = 0 } = policy.operations[name];
  return {
    name,
    category: policy.categories.indexOf(category),
    cost: priceOf(policy, settings, name),
    slot: takesSlot(policy, name),
    overrun,
    maxOverrun: overrun === "refuse" ? 0 : maxOverrun
  };
}
function isFactor(hundredths2) {
  const { min, max } = ADAPTIVE_HUNDREDTHS;
  return Number.isInteger(hundredths2) && hundredths2 >= min && hundredths2 <= max;
}
class LiveFactor {
  #store;
  #onChange;
  #unwatch;
  #hundredths = 100;
  /** Counts changes heard of, so that a read which began before one is followed by another. */
  #changes = 0;
  #reading;
  constructor(store, onChange) {
    this.#store = store;
    this.#onChange = onChange;
    this.#unwatch = store.watch(() => this.#heard());
    this.#heard();
  }
  /** Ends when the reads under way have ended, also in vain. */
  async settled() {
    await this.#reading;
  }
  close() {
    this.#unwatch();
  }
  #heard() {
    this.#changes++;
    if (!this.#store.sync) {
      this.#reading ??= this.#read();
      return;
    }
    try {
      this.#adopt(this.#store.read());
    } catch {
    }
  }
  async #read() {
    for (let changes = -1; changes !== this.#changes; ) {
      changes = this.#changes;
      try {
        this.#adopt(await this.#store.read());
      } catch {
      }
    }
    this.#reading = void 0;
  }
  #adopt(stored) {
    const hundredths2 = stored?.state.factorHundredths ?? 100;
    if (hundredths2 === this.#hundredths || !isFactor(hundredths2)) return;
    this.#hundredths = hundredths2;
    this.#onChange(hundredths2);
  }
}
const MAX_REMEMBERED = 1e4;
class LiveSubjects {
  #policy;
  #store;
  #ownLayers;
  #faulty;
  /** In the order of last use; `null`: the store has nothing for this subject. */
  #remembered = /* @__PURE__ */ new Map();
  #fitted = /* @__PURE__ */ new WeakMap();
  /** Counts changes heard of, so that what was read before a change is not remembered after it. */
  #changes = 0;
  constructor(policy, store, faulty) {
    this.#policy = policy;
    this.#store = store;
    this.#ownLayers = policy.layers.filter((layer) => !layer.shared);
    this.#faulty = faulty;
  }
  forget(layer, key) {
    this.#changes++;
    this.#remembered.delete(JSON.stringify([layer, key]));
  }
  forgetAll() {
    this.#changes++;
    this.#remembered.clear();
  }
  /** `null`: the subject has none; `undefined`: the store has to be asked. */
  known(subject) {
    return this.#store.sync ? this.#lookUp(subject) : this.#recall(subject);
  }
  async fetch(subject) {
    const changes = this.#changes;
    const found = nothingFound();
    await Promise.all(
      this.#ownLayers.map(async (layer) => {
        const key = layerKey(layer, subject);
        const stored = await this.#store.readSubject(layer.name, key);
        const settings = stored === void 0 ? null : this.#fit(stored, layer.name, key);
        if (changes === this.#changes) this.#remember(memoryKey(layer, subject), settings);
        if (settings !== null) found[layer.name] = settings;
      })
    );
    return found;
  }
  #lookUp(subject) {
    let found = null;
    for (const layer of this.#ownLayers) {
      const key = layerKey(layer, subject);
      const stored = this.#store.readSubject(layer.name, key);
      if (stored === void 0) continue;
      found ??= nothingFound();
      found[layer.name] = this.#fit(stored, layer.name, key);
    }
    return found;
  }
  #recall(subject) {
    let found = null;
    for (const layer of this.#ownLayers) {
      const key = memoryKey(layer, subject);
      const settings = this.#remembered.get(key);
      if (settings === void 0) return void 0;
      this.#remember(key, settings);
      if (settings === null) continue;
      found ??= nothingFound();
      found[layer.name] = settings;
    }
    return found;
  }
  #remember(key, settings) {
    this.#remembered.delete(key);
    this.#remembered.set(key, settings);
    if (this.#remembered.size > MAX_REMEMBERED) this.#remembered.delete(this.#remembered.keys().next().value);
  }
  /** Once for each document as it was read. */
  #fit(stored, layer, key) {
    const known = this.#fitted.get(stored);
    if (known !== void 0) return known;
    const { settings, faults } = fitSubjectSettings(this.#policy, layer, stored.document);
    this.#fitted.set(stored, settings);
    if (faults.length > 0) this.#faulty(faults, { layer, key });
    return settings;
  }
}
function nothingFound() {
  return /* @__PURE__ */ Object.create(null);
}
function memoryKey(layer, subject) {
  return JSON.stringify([layer.name, layerKey(layer, subject)]);
}
const MAX_TOLD = 100;
class UnknownPlans {
  #tell;
  #told = /* @__PURE__ */ new Set();
  constructor(tell) {
    this.#tell = tell;
  }
  met(unknown) {
    if (this.#told.size >= MAX_TOLD || this.#told.has(unknown.plan)) return;
    this.#told.add(unknown.plan);
    this.#tell(unknown);
  }
  /** Other settings are in force. */
  forget() {
    this.#told.clear();
  }
}
const NO_SETTINGS = Object.freeze({});
class LiveSettings {
  #policy;
  #store;
  #listener;
  #unwatch;
  #subjects;
  #factor;
  #hasFactor;
  #clock;
  #unknownPlans;
  #factorHundredths = 100;
  #compiled;
  #faults = [];
  #loaded = false;
  /** The look that is under way. */
  #look;
  /** The look after that, for those who know of something that it may have missed. */
  #nextLook;
  constructor(policy, store, listener, clock, factorStore) {
    this.#policy = policy;
    this.#store = store;
    this.#listener = listener;
    this.#clock = clock;
    this.#unknownPlans = new UnknownPlans((unknown) => listener.unknownPlan(unknown));
    this.#hasFactor = factorStore !== void 0;
    this.#subjects = new LiveSubjects(policy, store, (faults, subject) => listener.faulty(faults, subject));
    this.#compiled = new CompiledSettings(policy, initialSettings(policy));
    this.#factor = factorStore && new LiveFactor(factorStore, (hundredths2) => this.#factorMoved(hundredths2));
    if (store.sync) this.#adopt(store.read());
    this.#unwatch = store.watch((change) => this.#heard(change));
  }
  /** The settings now in force; of a store that does not answer at once, those last read. */
  get compiled() {
    return this.#compiled;
  }
  /** What in the stored settings the policy could not take. */
  get faults() {
    return this.#faults;
  }
  /** The adaptive factor as it was last read, in whole hundredths; 100 until then. */
  get factorHundredths() {
    return this.#factorHundredths;
  }
  /** Whether the settings were read once. */
  get loaded() {
    return this.#loaded;
  }
  /** The revision that decisions carry; `undefined` where no other process could change the settings. */
  get revision() {
    return this.#store.isMarked ? this.#compiled.settings.revision : void 0;
  }
  /** Settles when the settings were read once. */
  async ready() {
    if (!this.#loaded) await (this.#look ?? this.refresh());
  }
  /** Ends when the adaptive factor was read, or could not be; decisions do not wait for it. */
  async factorSettled() {
    await this.#factor?.settled();
  }
  /**
   * Reads the settings anew, by a look that begins after the call: one that is under way may have missed what the caller
   * knows of. Calls share looks, and none waits for more than two, however many come meanwhile.
   */
  async refresh() {
    if (this.#store.sync) {
      this.#adopt(this.#store.read());
      return;
    }
    if (this.#look === void 0 && this.#nextLook === void 0) {
      await this.#lookNow();
      return;
    }
    this.#nextLook ??= this.#lookAfter(this.#look);
    await this.#nextLook;
  }
  /**
   * The counters know another revision than the one in force here: reads the settings anew. What is read is in force,
   * and is announced to the counters where that was forgotten or was another store's last word.
   *
   * @param seen the revision that the counters know, `''`: none
   */
  async catchUp(seen2) {
    await this.refresh();
    const { revision } = this.#compiled.settings;
    if (revision !== seen2) await this.#store.reannounce?.(revision, seen2);
  }
  /** This process wrote settings; they are in force when the promise is fulfilled. */
  async wrote(stored) {
    try {
      await this.refresh();
    } catch {
      this.#adopt(stored);
    }
  }
  /** This process wrote a subject's settings: the next decision goes by them. */
  wroteSubject(layer, key) {
    this.#subjects.forget(layer, key);
  }
  /**
   * The quotas of a subject by category, where they are known without waiting.
   *
   * @param plan that the request names
   */
  known(subject, plan) {
    const settings = this.#subjects.known(subject);
    if (settings === void 0) return void 0;
    if (settings === null && plan === void 0) return this.#compiled.defaults;
    return this.quotasOf(settings ?? NO_SETTINGS, plan, subject);
  }
  /** A subject's settings by layer, asked of the store. Asks `ready()` to have been awaited. */
  async fetch(subject) {
    return await this.#subjects.fetch(subject);
  }
  /**
   * Quotas by category under the settings in force, whose {@link revision} goes with them until anything is awaited.
   *
   * @param settings of the subject, as {@link fetch} gives them
   * @param plan that the request names
   * @param subject whose they are
   */
  quotasOf(settings, plan, subject = "") {
    const lasting = this.#compiled.lastingOf(settings, plan);
    if (lasting !== void 0) return lasting;
    const met = (name, of) => {
      if (this.#loaded) this.#unknownPlans.met({ plan: name, subject, of });
    };
    return this.#compiled.quotasOf(settings, plan, this.#clock, met);
  }
  close() {
    this.#unwatch();
    this.#factor?.close();
  }
  #lookNow() {
    this.#look = this.#readSettings();
    return this.#look;
  }
  async #lookAfter(look) {
    await look?.catch(() => void 0);
    this.#nextLook = void 0;
    await this.#lookNow();
  }
  /** One at a time, so that no older state is adopted after a newer one. */
  async #readSettings() {
    try {
      this.#adopt(await this.#store.read());
    } finally {
      this.#look = void 0;
    }
  }
  /** Absence is adopted like any other state: a store that lost its data is followed as it is. */
  #adopt(stored) {
    if (stored !== void 0) check(stored);
    this.#loaded = true;
    if ((stored?.revision ?? "") === this.#compiled.settings.revision) return;
    const { settings, faults } = this.#fit(stored);
    this.#compiled = new CompiledSettings(this.#policy, settings, this.#factorHundredths);
    this.#faults = faults;
    this.#unknownPlans.forget();
    if (faults.length > 0) this.#listener.faulty(faults, "settings");
    this.#listener.changed(settings);
  }
  #fit(stored) {
    if (stored === void 0) return { settings: initialSettings(this.#policy), faults: [] };
    const { version, revision } = stored;
    const { settings, faults } = fitSettings(this.#policy, this.#hasFactor, stored.document);
    return { settings: { ...settings, version, revision }, faults };
  }
  #factorMoved(hundredths2) {
    this.#factorHundredths = hundredths2;
    const { settings } = this.#compiled;
    if (settings.mode === "adaptive") this.#compiled = new CompiledSettings(this.#policy, settings, hundredths2);
  }
  #heard(change) {
    if (change.kind === "subject") {
      this.#subjects.forget(change.layer, change.key);
      return;
    }
    if (change.kind === "everything") this.#subjects.forgetAll();
    this.refresh().catch(() => void 0);
  }
}
function check({ revision, version }) {
  if (typeof revision === "string" && revision !== "" && Number.isSafeInteger(version)) return;
  throw new QuotaError("store_error", "the settings store gave a document without a revision or a version");
}
function checkAbilities(policy, { can = {} }, calendar) {
  const { windows, concurrency, operations } = policy;
  const ofCalendar = windows.find(({ every }) => every !== void 0);
  if (ofCalendar !== void 0 && calendar === void 0) {
    const message = `window "${ofCalendar.label}" is of the calendar: pass calendar: luxonCalendar() of @scoregw/quota/calendar`;
    throw new QuotaError("calendar_missing", message);
  }
  if (ofCalendar !== void 0 && can.calendar !== true) {
    throw unsupported(`windows of the calendar, such as "${ofCalendar.label}"`);
  }
  const fitting = Object.keys(operations).find((name) => operations[name].overrun === "fit");
  if (fitting !== void 0 && can.fit !== true) throw unsupported(`overrun: 'fit', as of "${fitting}"`);
  if (concurrency === void 0) return;
  if (can.concurrency === void 0 || can.holds !== true) throw unsupported(`concurrency ("${concurrency.label}")`);
  const shared = can.concurrency === "all" ? void 0 : sharedWith(policy, concurrency.label);
  if (shared !== void 0) throw unsupported(`concurrency ("${concurrency.label}") in the shared layer "${shared}"`);
}
function sharedWith({ layers, base }, label) {
  const hasLabel = (layer) => Object.values(base[layer] ?? {}).some((limits2) => Object.hasOwn(limits2, label));
  return layers.find(({ name, shared }) => shared && hasLabel(name))?.name;
}
function unsupported(what) {
  return new QuotaError("store_unsupported", `this store cannot keep ${what}; see what each store can in its page`);
}
function settingsInTime(store, deadlineMs) {
  if (store.sync) return store;
  const inTime = (ask) => askLater(() => withinTime(ask(), deadlineMs), "the settings store");
  return {
    sync: false,
    isMarked: store.isMarked,
    read: () => inTime(() => store.read()),
    write: (document, options) => inTime(() => store.write(document, options)),
    readSubject: (layer, key) => inTime(() => store.readSubject(layer, key)),
    writeSubject: (layer, key, document, options) => inTime(() => store.writeSubject(layer, key, document, options)),
    watch: (listener) => store.watch(listener),
    reannounce: (revision, seen2) => inTime(async () => store.reannounce?.(revision, seen2)),
    close: () => store.close?.()
  };
}
function factorInTime(store, deadlineMs) {
  if (store.sync) return store;
  return {
    sync: false,
    read: () => withinTime(store.read(), deadlineMs),
    compareAndSet: (expectedVersion, minute, state) => store.compareAndSet(expectedVersion, minute, state),
    watch: (listener) => store.watch(listener),
    close: () => store.close?.()
  };
}
function crossings(decision, { cost, slot }, thresholds) {
  const { subject, windows } = decision;
  return windows.filter(isCounted).flatMap((window) => {
    const charged = window.kind === "concurrency" ? Number(slot) : cost;
    return thresholds.filter((threshold) => crosses(window, charged, threshold)).map((threshold) => ({ subject, decision, window, threshold }));
  });
}
function isCounted(window) {
  return window.used !== null;
}
function crosses({ limit: limit2, used }, charged, threshold) {
  if (limit2 === "unlimited" || charged === 0) return false;
  const isNear = (tokens) => "left" in threshold ? limit2 - tokens <= threshold.left : tokens * 100 >= limit2 * hundredths(threshold.share);
  return isNear(used) && !isNear(used - charged);
}
class Telling {
  #policy;
  #events;
  #stopwatch;
  #live;
  #thresholds;
  constructor({ policy, events, stopwatch, live, thresholds }) {
    this.#policy = policy;
    this.#events = events;
    this.#stopwatch = stopwatch;
    this.#live = live;
    this.#thresholds = thresholds;
  }
  /** When a request began, by the stopwatch; `undefined` while nobody wants to know how long decisions take. */
  start() {
    return this.#events.hearsTimes ? this.#stopwatch() : void 0;
  }
  decided(decision, asked, startedAtMs) {
    if (!this.#events.hearsDecisions) return;
    this.#time(asked.category, startedAtMs, decision.allowed ? "admitted" : "refused");
    if (decision.allowed) this.#events.tell("admitted", decision);
    else this.#events.tell("refused", decision);
    if (this.#events.hears("shadowed") && decision.shadowed.length > 0) this.#events.tell("shadowed", decision);
    if (decision.allowed) this.#nearLimit(decision, asked);
  }
  /** @param excess what was charged in addition, as a decision; `undefined`: nothing */
  overrun(overrun, excess) {
    this.#events.tell("overrun", overrun);
    if (excess !== void 0) this.#nearLimit(excess, { cost: excess.cost, slot: false });
  }
  degraded({ category }, startedAtMs, allowed, error) {
    this.#time(category, startedAtMs, "degraded");
    this.#events.tell("degraded", { category: this.#policy.categories[category], allowed, error });
  }
  #nearLimit(decision, asked) {
    if (!this.#events.hears("nearLimit")) return;
    const thresholds = this.#live.compiled.settings.thresholds ?? this.#thresholds;
    for (const crossing of crossings(decision, asked, thresholds)) this.#events.tell("nearLimit", crossing);
  }
  #time(category, startedAtMs, outcome) {
    if (!this.#events.hearsTimes || startedAtMs === void 0) return;
    const durationMs = this.#stopwatch() - startedAtMs;
    this.#events.tell("decided", { category: this.#policy.categories[category], outcome, durationMs });
  }
}
const DEADLINE_MS = 1e3;
class EngineParts {
  policy;
  store;
  settingsStore;
  factorStore;
  deadlineMs;
  clock;
  calendar;
  events = new Events();
  check;
  live;
  periods;
  telling;
  #holdTtlMs;
  #frames;
  #fallback;
  constructor(options) {
    const { policy, adaptive, clock = systemClock, failurePolicy, stopwatch, deadlineMs } = options;
    const { events } = this;
    this.policy = policy;
    this.store = options.store ?? memoryStore({ clock });
    checkAbilities(policy, this.store, options.calendar);
    this.deadlineMs = deadlineMs ?? (this.store.sync ? void 0 : this.store.deadlineMs) ?? DEADLINE_MS;
    this.settingsStore = settingsInTime(options.settingsStore ?? memorySettings(), this.deadlineMs);
    this.factorStore = adaptive && factorInTime(adaptive.factor, this.deadlineMs);
    this.clock = clock;
    this.calendar = options.calendar;
    this.#frames = decisionFrames(policy);
    const { idTtlMs, createNonce, holdTtlMs, maxTtlMs, maxHolds } = options;
    const canHold = this.store.can?.holds === true;
    this.check = new RequestCheck(policy, { idTtlMs, createNonce, holdTtlMs, maxTtlMs, maxHolds, canHold });
    this.periods = new LivePeriods(policy, options.calendar, clock.now());
    this.#holdTtlMs = holdTtlMs;
    this.live = new LiveSettings(
      policy,
      this.settingsStore,
      {
        changed: (settings) => events.tell("settings", settings),
        faulty: (faults, of) => events.tell("settingsFault", { of, faults }),
        unknownPlan: (unknown) => events.tell("unknownPlan", unknown)
      },
      clock,
      this.factorStore
    );
    const { live, periods } = this;
    const telling = new Telling({ policy, events, stopwatch, live, thresholds: options.thresholds });
    this.telling = telling;
    this.#fallback = new Fallback({ policy, frames: this.#frames, failurePolicy, clock, live, periods, telling });
  }
  /** @param post posts to the store what was spent while it did not answer */
  decider(post) {
    const { check: check2, live, periods, telling } = this;
    return new Decider({
      held: (asked, id, ttlMs, endsAt) => this.held(asked, id, ttlMs, endsAt),
      check: check2,
      live,
      periods,
      telling,
      post,
      clock: this.clock,
      frames: this.#frames,
      fallback: this.#fallback
    });
  }
  /** A hold of this engine's, to be worked with. */
  held(asked, id, ttlMs, endsAt) {
    const { check: check2, live, periods, telling } = this;
    return new HeldTokens({ check: check2, live, periods, frames: this.#frames, telling }, asked, id, ttlMs, endsAt);
  }
  /**
   * When a hold would end that the failure policy admitted without the store.
   *
   * @throws {QuotaError} `hold_required` for what was to be none; `invalid_ttl`
   */
  endWithoutStore(isUnrecorded, ttlMs = this.#holdTtlMs) {
    if (!isUnrecorded) throw holdRequired("extend");
    return this.clock.now() + this.check.ttl(ttlMs);
  }
  async close() {
    this.live.close();
    this.events.clear();
    await this.store.close?.();
    await this.settingsStore.close?.();
    await this.factorStore?.close?.();
  }
}
const WORDS = {
  windowMs: "the length of a window is `lengthMs`",
  length: "the length of a window is `lengthMs`",
  duration: "the length of a window is `lengthMs`",
  limit: "limits are in `base`, by layer, category and window",
  max: "limits are in `base`, by layer, category and window",
  points: "a price is `cost`, and limits are in `base`",
  price: "a price is `cost`",
  tokens: "a price is `cost`",
  weight: "a price is `cost`",
  limits: "limits are in `base`, by layer, category and window"
};
const policyShape = /* @__PURE__ */ once(
  () => group({
    windows: listOf(windowCheck(), 1, 8),
    categories: listOf(nameCheck(), 1, 16),
    layers: listOf(
      group({ name: nameCheck(), scope: textLike(/^.{1,64}$/su, "1 to 64 characters"), shared: oneOf(true, false) }),
      1,
      8
    ),
    operations: tableBy(wrongOperation, operationCheck(), "an object"),
    concurrency: optional(concurrencyCheck()),
    base: where((value) => value !== void 0, "the base limits, by layer, category and window"),
    plans: v.optional(v.unknown())
  })
);
function windowCheck() {
  const rolling = group({
    label: nameCheck(),
    lengthMs: wholeNumber(MIN_WINDOW_MS, MAX_WINDOW_MS, "milliseconds")
  });
  const calendar = calendarWindowCheck();
  return v.lazy((value) => isOfCalendar(value) ? calendar : rolling);
}
function isOfCalendar(value) {
  return isObject$1(value) && (Object.hasOwn(value, "every") || Object.hasOwn(value, "timeZone"));
}
function operationCheck() {
  return group({
    category: where((value) => typeof value === "string", "the name of a category"),
    cost: where(isPrice, A_PRICE),
    overrun: optional(oneOf("refuse", "charge", "fit")),
    maxOverrun: optional(wholeNumber(1, MAX_LIMIT, "tokens"))
  });
}
function concurrencyCheck() {
  const names = (what) => listOf(
    where((value) => typeof value === "string", what),
    1,
    1e3
  );
  return group({
    label: nameCheck(),
    operations: optional(names("the name of an operation")),
    categories: optional(names("the name of a category"))
  });
}
function policyFaults(policy) {
  const faults = faultsOf(policyShape(), policy, WORDS);
  if (faults.length > 0) return faults;
  const shape = policy;
  const { windows, categories, layers } = shape;
  const ofBase = within("base", faultsOf(baseCheck(shape), shape.base));
  return [
    ...duplicates(
      "windows",
      windows.map(({ label }) => label)
    ),
    ...duplicates("categories", categories),
    ...duplicates(
      "layers",
      layers.map((layer) => layer.name)
    ),
    ...layers.some(({ shared }) => !shared) ? [] : [{ path: "layers", message: "one layer at least is not shared" }],
    ...operationFaults(shape),
    ...concurrencyFaults(shape),
    ...ofBase,
    // What the base has says what else there can be.
    ...ofBase.length === 0 ? faultsByBase(policy) : []
  ];
}
function duplicates(path, names) {
  const twice = names.filter((each, index) => names.indexOf(each) !== index);
  return twice.map((each) => ({ path, message: `"${each}" is there twice` }));
}
function within(path, faults) {
  return faults.map((fault) => ({ ...fault, path: fault.path === "" ? path : `${path}.${fault.path}` }));
}
function operationFaults({ operations, categories }) {
  return Object.entries(operations).flatMap(([operation, { category, overrun = "refuse", maxOverrun }]) => {
    const path = (member2) => pathOf(["operations", operation, member2]);
    const faults = [];
    if (!categories.includes(category)) {
      const message = `not a category: ${noSuchName(category, categories, "the policy has")}`;
      faults.push({ path: path("category"), message });
    }
    if (overrun !== "refuse" && maxOverrun === void 0) {
      const message = `missing: the most tokens that one commit charges beyond its hold, as overrun is "${overrun}"`;
      faults.push({ path: path("maxOverrun"), message });
    }
    if (overrun === "refuse" && maxOverrun !== void 0) {
      const message = 'has no effect while an overrun is refused; say overrun: "charge" or "fit"';
      faults.push({ path: path("maxOverrun"), message });
    }
    return faults;
  });
}
function concurrencyFaults({ concurrency, windows, operations, categories }) {
  if (concurrency === void 0) return [];
  const { label, operations: named, categories: namedCategories } = concurrency;
  const known = Object.keys(operations);
  const strangers2 = (member2, names, there, what) => names.flatMap(
    (name, index) => there.includes(name) ? [] : [
      {
        path: `concurrency.${member2}.${index}`,
        message: `not ${what}: ${noSuchName(name, there, "the policy has")}`
      }
    ]
  );
  return [
    ...windows.some((window) => window.label === label) ? [{ path: "concurrency.label", message: `"${label}" is the label of a window: give it another` }] : [],
    ...named === void 0 && namedCategories === void 0 ? [{ path: "concurrency", message: "names nothing: say which `operations`, or `categories`, need a slot" }] : [],
    ...strangers2("operations", named ?? [], known, "an operation"),
    ...strangers2("categories", namedCategories ?? [], categories, "a category")
  ];
}
function baseCheck({ windows, concurrency, categories, layers }) {
  const limit2 = limitCheck();
  const labels = windows.map(({ label }) => [label, limit2]);
  const slots = concurrency === void 0 ? [] : [[concurrency.label, optional(limit2)]];
  const ofCategory = group(Object.fromEntries([...slots, ...labels]));
  const ofLayer = eachKey(categories, () => ofCategory);
  return eachKey(
    layers.map(({ name }) => name),
    () => ofLayer
  );
}
function faultsByBase(policy) {
  const ofPlans = policy.plans === void 0 ? [] : within("plans", faultsOf(plansCheck(policy), policy.plans));
  return [...limitsNothing(policy), ...ofPlans];
}
function limitsNothing(policy) {
  const { concurrency, layers, operations } = policy;
  if (concurrency === void 0) return [];
  const { label } = concurrency;
  const named = (concurrency.operations ?? []).flatMap((name) => operations[name]?.category ?? []);
  const categories = policy.categories.filter((each) => named.includes(each) || concurrency.categories?.includes(each));
  const isLimited = categories.some((category) => layers.some(({ name }) => hasLimit(policy, name, category, label)));
  if (isLimited || categories.length === 0) return [];
  const where2 = pathOf(["base", layers[0].name, categories[0], label]);
  return [{ path: "concurrency", message: `limits nothing: say in \`base\` how many slots there are, as ${where2}` }];
}
const MAX_TTL_MS = 31 * 864e5;
function sharedChecks() {
  return {
    store: optional(
      objectWhere(isStore, "a quota store, as memoryStore() or redisStore({ client }) makes it")
    ),
    settingsStore: optional(
      having(["read", "write", "readSubject", "writeSubject", "watch"], "a settings store")
    ),
    adaptive: optional(group({ factor: having(["read", "compareAndSet", "watch"], "a factor store") })),
    deadlineMs: optional(wholeNumber(10, 6e4, "milliseconds")),
    idTtlMs: withDefault(wholeNumber(1e3, 864e5, "milliseconds"), 6e5),
    holdTtlMs: withDefault(wholeNumber(1, MAX_TTL_MS, "milliseconds"), 6e4),
    maxTtlMs: withDefault(wholeNumber(1e3, MAX_TTL_MS, "milliseconds"), 864e5),
    maxHolds: withDefault(wholeNumber(1, 1e5), 1e3),
    thresholds: withDefault(thresholdsCheck(), DEFAULT_THRESHOLDS),
    calendar: optional(having(["periods", "isTimeZone"], "a calendar, as luxonCalendar() makes it")),
    clock: optional(aClock()),
    createNonce: withDefault(aFunction(), () => crypto.randomUUID()),
    stopwatch: withDefault(aFunction(), systemStopwatch)
  };
}
function failurePolicyCheck() {
  const what = '"closed", "open", or { local: { expectedProcesses } } with 1 to 100000';
  return where(isFailurePolicy, what);
}
const parse = /* @__PURE__ */ optionsParser("createQuota()", () => ({
  policy: objectWhere(
    (value) => ["windows", "categories", "layers", "operations", "base"].some((name) => Object.hasOwn(value, name)),
    "a policy, as defaultPolicy() or definePolicy() makes it"
  ),
  failurePolicy: withDefault(tableOf(failurePolicyCheck(), 'an object by category, { read: "open" }'), {}),
  ...sharedChecks()
}));
function isStore(value) {
  const { sync, open } = value;
  return typeof sync === "boolean" && typeof open === "function";
}
function isFailurePolicy(value) {
  if (value === "closed" || value === "open") return true;
  const { local, ...others } = Object(value);
  const { expectedProcesses, ...more } = Object(local);
  const isCount = Number.isSafeInteger(expectedProcesses) && expectedProcesses >= 1;
  return isCount && expectedProcesses <= 1e5 && Object.keys({ ...others, ...more }).length === 0;
}
function parseQuotaOptions(options) {
  const parsed2 = parse(options);
  const faults = policyFaults(parsed2.policy);
  if (faults.length > 0) throw faultyDocument("invalid_policy", "policy", faults);
  const policy = structuredClone(parsed2.policy);
  const strangers2 = Object.keys(parsed2.failurePolicy).filter((category) => !policy.categories.includes(category));
  if (strangers2.length > 0) {
    const faultsOfStrangers = strangers2.map((category) => ({
      path: `failurePolicy.${category}`,
      message: `not a category: ${noSuchName(category, policy.categories, "the policy has")}`
    }));
    throw refusedOptions("createQuota()", faultsOfStrangers);
  }
  return { ...parsed2, policy };
}
const MAX_TURNS = 3;
class SyncEngine extends Engine {
  sync = true;
  #counters;
  #counting;
  #decider;
  #plain;
  constructor(parts, store) {
    super(parts);
    this.#counters = store.open(storeSchema(parts.policy));
    this.#counting = new SyncCounting(parts.live, parts.periods, this.#counters);
    this.#decider = parts.decider((posting) => {
      try {
        this.#counters.settle(posting);
      } catch {
      }
    });
    this.#plain = this.#plainOwner();
  }
  consumeSync(request) {
    this.requireOpen();
    const asked = this.#decider.asked(request);
    if (asked.slot) this.parts.check.consumable(asked);
    if (asked.cost === 0) return this.#decider.free(asked);
    const startedAtMs = this.parts.telling.start();
    return this.#decider.decision(asked, startedAtMs, this.#counting.take(asked, NO_TERMS));
  }
  peekSync(request) {
    this.requireOpen();
    const asked = this.#decider.asked(request);
    if (asked.cost === 0 && !asked.slot) return this.#decider.free(asked);
    const quotas = this.#quotasOf(asked.subject, asked.plan)[asked.category];
    const { look, reply } = this.#look(() => this.#decider.lookFor(asked, quotas));
    return this.#decider.foreseen(asked, quotas, look, reply);
  }
  reserveSync(request) {
    const reserved = this.#reserve(request);
    if (reserved.kind === "refused") return refusedReservation(reserved.decision);
    if (reserved.kind === "repeated") return repeatedReservation(reserved.status);
    if (reserved.hold === void 0) return new PlainReservation(this.#plain, reserved);
    return Object.assign(this.#holdCalls(reserved.hold), heldFacts(reserved.decision));
  }
  statusSync(subject, { plan } = {}) {
    this.requireOpen();
    this.parts.check.subject(subject, plan);
    const quotas = this.#quotasOf(subject, plan);
    const { look, reply } = this.#look(() => this.#decider.lookAt(subject, quotas));
    const { holds } = this.#counters;
    const held = holds === void 0 ? NO_HOLDS : askNow(() => holds.list({ subject })).holds;
    return this.#decider.status(subject, quotas, look, reply, held);
  }
  async consume(request) {
    request.signal?.throwIfAborted();
    return this.consumeSync(request);
  }
  async peek(request) {
    return this.peekSync(request);
  }
  async reserve(request) {
    const { signal } = request;
    signal?.throwIfAborted();
    const reservation = this.#reserveLater(this.#reserve(request));
    return signal === void 0 ? reservation : orAborted(Promise.resolve(reservation), signal);
  }
  async status(subject, options) {
    return this.statusSync(subject, options);
  }
  async closeWindows(request) {
    this.#counters.reset(request);
  }
  holdCalls(hold) {
    return awaitedCalls(this.#holdCalls(hold));
  }
  async askHolds(ask) {
    const holds = this.#holds;
    return askNow(() => ask(holds));
  }
  async quotasNow({ subject, plan, category }) {
    return this.#quotasOf(subject, plan)[category];
  }
  #reserve(request) {
    this.requireOpen();
    const asked = this.#decider.asked(request);
    const terms = this.parts.check.terms(request, asked);
    if (asked.cost === 0 && terms.id === void 0) return this.#decider.freely(asked);
    const startedAtMs = this.parts.telling.start();
    return this.#decider.reservation(asked, startedAtMs, this.#counting.take(asked, terms), terms);
  }
  #reserveLater(reserved) {
    if (reserved.kind === "refused") return awaited(refusedReservation(reserved.decision));
    if (reserved.kind === "repeated") return awaited(repeatedReservation(reserved.status));
    const { hold } = reserved;
    const calls = awaitedCalls(hold === void 0 ? new PlainReservation(this.#plain, reserved) : this.#holdCalls(hold));
    return Object.assign(calls, heldFacts(reserved.decision));
  }
  #plainOwner() {
    return {
      check: ({ isUnrecorded, decision: { cost } }, as, actual) => void endingOf(isUnrecorded)(as, cost, actual),
      settle: ({ isUnrecorded, decision: { cost }, settlement }, as, actual) => {
        const { giveBack, uncharged } = endingOf(isUnrecorded)(as, cost, actual);
        const request = as === "committed" && giveBack === 0 ? void 0 : settlement(giveBack, as);
        if (request !== void 0) askNow(() => this.#counters.settle(request));
        return { charged: cost - giveBack, uncharged };
      },
      extend: ({ isUnrecorded = false }, ttlMs) => this.parts.endWithoutStore(isUnrecorded, ttlMs),
      add: ({ asked, isUnrecorded = false }, tokens) => {
        const more = moreOf(asked, tokens, isUnrecorded);
        return this.#decider.decision(more, void 0, this.#counting.take(more, NO_TERMS));
      }
    };
  }
  #holdCalls(hold) {
    const holds = this.#holds;
    const { asked } = hold;
    const quotas = () => this.#quotasOf(asked.subject, asked.plan)[asked.category];
    return callsNow({
      hold,
      mayRepeat: () => true,
      check: (_as, actual) => hold.checkSettle(actual),
      extend: (ttlMs) => {
        const request = hold.extendRequest(ttlMs);
        return hold.extended(askNow(() => holds.extend(request)));
      },
      add: (tokens) => {
        const { request, reply } = this.#inPeriods(
          () => hold.growRequest(tokens, quotas()),
          (asking) => holds.grow(asking)
        );
        return hold.grown(request, reply);
      },
      settle: (as, actual) => {
        const { request, reply } = this.#inPeriods(
          () => hold.settleRequest(as, actual, quotas()),
          (asking) => holds.settle(asking)
        );
        return hold.settled(request, reply);
      }
    });
  }
  get #holds() {
    return this.requireHolds(this.#counters.holds);
  }
  #quotasOf(subject, plan) {
    return askNow(() => this.parts.live.known(subject, plan), "the settings store");
  }
  /** Asks the store, again where its clock is outside of the periods that it was told. */
  #inPeriods(requestNow, ask) {
    for (let turns = 1; ; turns++) {
      const request = requestNow();
      const reply = askNow(() => ask(request));
      if (reply.outcome !== "stale" || turns === MAX_TURNS) return { request, reply };
      this.parts.periods.stale(reply.now);
    }
  }
  #look(lookNow) {
    for (let turns = 1; ; turns++) {
      const look = lookNow();
      const reply = askNow(() => this.#counters.read(look));
      if (reply.isStale !== true || turns === MAX_TURNS) return { look, reply };
      this.parts.periods.stale(reply.now);
    }
  }
}
function endingOf(isUnrecorded) {
  return isUnrecorded === true ? giveBackOfUnrecorded : giveBackOfPlain;
}
const NO_TERMS = {};
const NO_HOLDS = [];
function createQuota(options) {
  const parts = new EngineParts(parseQuotaOptions(options));
  const { store, settingsStore } = parts;
  return store.sync && settingsStore.sync ? new SyncEngine(parts, store) : new AsyncEngine(parts);
}
const BEIJING_TIME_ZONE = "Asia/Shanghai";
function isoText(instant) {
  return new Date(instant).toISOString();
}
const TEXTS = { en: english, "zh-CN": chinese };
function refusalMessage(decision, options = {}) {
  const { locale = "en", supportForumUrl, messages, timeZone = BEIJING_TIME_ZONE } = options;
  const own = messages?.[locale];
  const text2 = (typeof own === "function" ? own : own?.exceeded) ?? TEXTS[locale];
  const retryAtBeijing = zonedText(decision.resetAt, BEIJING_TIME_ZONE);
  const retryAt = timeZone === BEIJING_TIME_ZONE ? retryAtBeijing : zonedText(decision.resetAt, timeZone);
  return text2({ decision, supportForumUrl, retryAtBeijing, retryAt, timeZone });
}
function english({ decision, retryAt, timeZone, supportForumUrl }) {
  const { scope, category, kind, limit: limit2, requested } = decision.binding;
  const requests = `${capitalized(category)} requests`;
  const when = `${retryAt} ${timeZone === BEIJING_TIME_ZONE ? "Beijing Time (UTC+8)" : `(${timeZone})`}`;
  const ask = `For a higher quota, ask at ${supportForumUrl ?? "the support forum"}.`;
  if (kind === "concurrency") {
    const most = `${scope} Limit of ${limit2} ${requests} at once`;
    if (!decision.retryable) return `This request is above the ${most}: waiting will not help. ${ask}`;
    return `Reached ${most}. You may continue when one of them has ended. ${ask}`;
  }
  const what = `${scope} ${windowText(decision.binding, "-", ENGLISH_UNITS)} Quota Limit`;
  if (!decision.retryable) {
    return `This request needs ${requested} tokens, more than the ${what} of ${limit2} for ${requests}: waiting will not help. ${ask}`;
  }
  return `Reached ${what} for ${requests}. You may continue after ${when}. ${ask}`;
}
function chinese({ decision, retryAt, timeZone, supportForumUrl }) {
  const { scope, category, kind, limit: limit2, requested } = decision.binding;
  const whose = CHINESE[scope] ?? scope;
  const requests = CHINESE[category] ?? ` ${category} `;
  const ask = `如需更高配额，请前往${supportForumUrl === void 0 ? "支持论坛" : ` ${supportForumUrl} `}申请。`;
  const when = timeZone === BEIJING_TIME_ZONE ? `北京时间（UTC+8）${retryAt} ` : ` ${retryAt}（${timeZone}）`;
  if (kind === "concurrency") {
    const most = `${whose}同时进行的${requests}请求数上限（${limit2}）`;
    return decision.retryable ? `已达到${most}。其中一个结束后即可继续请求。${ask}` : `本次请求超过${most}，等待无法解决。${ask}`;
  }
  const what = `${whose} ${windowText(decision.binding, " ", CHINESE_UNITS)}${requests}配额上限`;
  if (!decision.retryable) return `本次请求需要 ${requested} 个令牌，超过${what}（${limit2}），等待无法解决。${ask}`;
  return `已达到${what}。您可以在${when}之后继续请求。${ask}`;
}
const CHINESE = {
  Personal: "个人",
  Site: "全站",
  read: "读取",
  write: "写入",
  all: "全部",
  hour: "每小时",
  day: "每日",
  week: "每周",
  month: "每月",
  year: "每年"
};
const ENGLISH_UNITS = ["Day", "Hour", "Minute", "Second"];
const CHINESE_UNITS = ["天", "小时", "分钟", "秒"];
const UNIT_MS = [864e5, 36e5, 6e4, 1e3];
function windowLabel(violation, locale) {
  const text2 = locale === "en" ? windowText(violation, "-", ENGLISH_UNITS) : windowText(violation, " ", CHINESE_UNITS);
  return text2.trim();
}
function windowText({ kind, window, lengthMs }, separator, units) {
  if (kind === "rolling" && lengthMs !== null) return lengthText$1(lengthMs, separator, units);
  return units === ENGLISH_UNITS ? capitalized(window) : CHINESE[window] ?? `${window} `;
}
function lengthText$1(lengthMs, separator, units) {
  const index = UNIT_MS.findIndex((unitMs) => lengthMs % unitMs === 0);
  const unit = index === -1 ? UNIT_MS.length - 1 : index;
  return `${lengthMs / UNIT_MS[unit]}${separator}${units[unit]}`;
}
function capitalized(word) {
  return word.charAt(0).toUpperCase() + word.slice(1);
}
function quotaExceededBody(decision, options = {}) {
  const { binding, retryAfterSeconds: retryAfterSeconds2 } = decision;
  const { scope, category, window, limit: limit2, used, requested, resetAt } = binding;
  const { timeZone = BEIJING_TIME_ZONE, locale = "en" } = options;
  const retryAtLocal = zonedText(resetAt, timeZone);
  return {
    error: "quota_exceeded",
    msg: refusalMessage(decision, options),
    retryAfterSeconds: retryAfterSeconds2,
    quota: {
      scope,
      category,
      window,
      limit: limit2,
      used,
      requested,
      resetAt: isoText(resetAt),
      ...timeZone === BEIJING_TIME_ZONE ? { retryAtBeijing: retryAtLocal } : { retryAtLocal },
      timeZone,
      // Behind what was there before them.
      retryAt: isoText(resetAt),
      windowLabel: windowLabel(binding, locale)
    }
  };
}
class DraftTexts {
  frame;
  #policy;
  #told;
  constructor(frame, told, policy) {
    this.frame = frame;
    this.#told = told;
    this.#policy = policy;
  }
  fieldsOf({ states, now }, more) {
    const told = this.#told;
    if (told.length === 0) return null;
    let text2 = "";
    for (const item of told) {
      const startedAt = states[item.startAt];
      text2 += item.text + remainingOf(item.limit, states[item.startAt + 1] + more);
      if (startedAt !== NOT_OPEN)
        text2 += endingIn(item, Math.max(0, Math.ceil((startedAt + item.lengthMs - now) / 1e3)));
    }
    return { policy: this.#policy, limit: text2 };
  }
}
function endingIn(item, seconds) {
  if (item.seconds !== seconds) {
    item.seconds = seconds;
    item.secondsText = `;t=${seconds}`;
  }
  return item.secondsText;
}
function remainingOf(limit2, used) {
  return Math.max(0, limit2 - Math.max(0, used));
}
const texts = /* @__PURE__ */ new WeakMap();
let lastQuotas;
let last = null;
function preparedFields(decision, more) {
  if (!decision.allowed || decision.source !== "store") return void 0;
  const counted = countedOf(decision);
  if (counted === void 0) return void 0;
  const frame = frameOf(decision);
  const { quotas } = counted;
  if (quotas !== lastQuotas) {
    last = textsOf(frame, counted);
    lastQuotas = quotas;
  }
  return last !== null && last.frame === frame ? last.fieldsOf(counted, more) : void 0;
}
function textsOf(frame, { quotas }) {
  let known = texts.get(quotas);
  if (known === void 0) {
    known = made(frame, quotas);
    texts.set(quotas, known);
  }
  return known;
}
function made(frame, { layers, limits: limits2 }) {
  const { layout } = frame;
  const told = [];
  const policy = [];
  for (const [slot, layer] of layers.entries()) {
    for (const cell of frame.shownAs[layer]) {
      const { kind, label, lengthMs } = layout.cells[cell];
      const at = layout.limitAt(slot, cell);
      const limit2 = limits2[at];
      if (limit2 === Number.POSITIVE_INFINITY) continue;
      if (kind !== "rolling") return null;
      const name = `"${frame.layers[layer].name}-${label}"`;
      const text2 = `${told.length === 0 ? "" : ", "}${name};r=`;
      told.push({ text: text2, limit: limit2, lengthMs, startAt: layout.cellAt(slot, cell), seconds: -1, secondsText: "" });
      policy.push(`${name};q=${limit2};w=${Math.ceil(lengthMs / 1e3)}`);
    }
  }
  return new DraftTexts(frame, told, policy.join(", "));
}
function refusalHeaders(decision) {
  return { "Retry-After": String(decision.retryAfterSeconds), "X-Quota-Reset": isoText(decision.resetAt) };
}
function draftFields(decision, more = 0) {
  const prepared = preparedFields(decision, more);
  if (prepared !== void 0) return prepared ?? void 0;
  const { allowed } = decision;
  const told = [];
  let text2 = "";
  for (const window of decision.windows) {
    if (window.limit === "unlimited" || window.used === null || !window.enforced) continue;
    told.push(window);
    if (!allowed && !refuses(decision, window)) continue;
    const item = limitItem(window, decision, window.kind === "concurrency" ? 0 : more);
    text2 = text2 === "" ? item : `${text2}, ${item}`;
  }
  return told.length === 0 ? void 0 : { policy: told.map(policyItem).join(", "), limit: text2 };
}
function rateLimitHeaders(decision) {
  return headersOf(draftFields(decision));
}
function headersOf(fields) {
  return fields === void 0 ? {} : { "RateLimit-Policy": fields.policy, RateLimit: fields.limit };
}
function quotaHeaders(decision, options = {}) {
  return {
    ...decision.allowed ? {} : refusalHeaders(decision),
    ...options.standardHeaders === "draft-10" ? rateLimitHeaders(decision) : {}
  };
}
function refuses({ violations }, { layer, window }) {
  return violations.some((violation) => violation.layer === layer && violation.window === window);
}
function policyItem({ layer, window, limit: limit2, lengthMs }) {
  const lasts = lengthMs === null ? "" : `;w=${Math.ceil(lengthMs / 1e3)}`;
  return `"${layer}-${window}";q=${limit2}${lasts}`;
}
function limitItem(window, decision, more) {
  const seconds = window.resetAt === null ? void 0 : Math.max(0, Math.ceil((window.resetAt - decision.now) / 1e3));
  const told = seconds !== void 0 && (decision.allowed || seconds <= decision.retryAfterSeconds);
  const remaining = more === 0 ? window.remaining : remainingOf(window.limit, window.used + more);
  return `"${window.layer}-${window.window}";r=${remaining}${told ? `;t=${seconds}` : ""}`;
}
const UNITS = [
  ["d", 864e5],
  ["h", 36e5],
  ["min", 6e4],
  ["s", 1e3]
];
function lengthText(ms) {
  let rest = Math.ceil(Math.max(0, ms) / 1e3) * 1e3;
  const parts = [];
  for (const [unit, length] of UNITS) {
    const count = Math.floor(rest / length);
    rest -= count * length;
    if (count > 0) parts.push(`${count} ${unit}`);
  }
  return parts.slice(0, 2).join(" ") || "0 s";
}
function instantText(at) {
  return new Date(at).toISOString().slice(0, 19).replace("T", " ");
}
function amountText(value) {
  return value.toLocaleString("en");
}
function rateText(perHour) {
  if (perHour === 0) return "none";
  return perHour >= 120 ? `${perHour / 60} a minute` : `${perHour} an hour`;
}
const _sfc_main$9 = /* @__PURE__ */ defineComponent({
  __name: "answer-panel",
  __ssrInlineRender: true,
  props: {
    view: {}
  },
  emits: ["wait"],
  setup(__props) {
    const props = __props;
    const answer = computed(() => {
      const { refusal, now } = props.view;
      if (refusal === void 0) return void 0;
      const headers = quotaHeaders(refusal, { standardHeaders: "draft-10" });
      const fields = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
      const body = JSON.stringify(quotaExceededBody(refusal), null, 2);
      return {
        text: `HTTP/1.1 429 Too Many Requests
Content-Type: application/json
${fields.join("\n")}

${body}`,
        subject: String(refusal.subject),
        operation: refusal.operation,
        waitMs: refusal.retryable ? Math.max(0, refusal.now + refusal.retryAfterSeconds * 1e3 - now) : 0
      };
    });
    return (_ctx, _push, _parent, _attrs) => {
      _push(`<section${ssrRenderAttrs(mergeProps({ "aria-labelledby": "pg-answer" }, _attrs))}><h2 id="pg-answer">The last refusal</h2>`);
      if (answer.value === void 0) {
        _push(`<p class="none"> Nobody has been refused yet. Let time pass, move a slider, or lower a limit. </p>`);
      } else {
        _push(`<!--[--><p class="row"><span>${ssrInterpolate(answer.value.subject)}, ${ssrInterpolate(answer.value.operation)}</span>`);
        if (answer.value.waitMs > 0) {
          _push(`<button type="button" data-do="wait"> Wait as told: ${ssrInterpolate(unref(lengthText)(answer.value.waitMs))}</button>`);
        } else {
          _push(`<!---->`);
        }
        _push(`</p><pre tabindex="0" role="region" aria-label="Answer" data-show="answer">${ssrInterpolate(answer.value.text)}</pre><!--]-->`);
      }
      _push(`</section>`);
    };
  }
});
const _sfc_setup$9 = _sfc_main$9.setup;
_sfc_main$9.setup = (props, ctx) => {
  const ssrContext = useSSRContext();
  (ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add(".vitepress/theme/playground/answer-panel.vue");
  return _sfc_setup$9 ? _sfc_setup$9(props, ctx) : void 0;
};
function codeOf(scenario) {
  const { windows, operations, site, streams } = scenario;
  const stream = streams[0];
  const asked = operations[stream?.operation ?? 0]?.name ?? "";
  return `import {
  createQuota,
  definePolicy,
  quotaExceededBody,
} from '@scoregw/quota'

const policy = definePolicy({
  windows: [
${windows.map((label) => `    { label: ${quoted(label)}, lengthMs: ${digits(LENGTHS_MS[label] ?? 0)} },`).join("\n")}
  ],
  categories: ['read', 'write'],
  layers: [{ name: 'personal' }${site === null ? "" : ", { name: 'site', shared: true }"}],
  operations: {
${operations.map(({ name, category, cost }) => entry(4, keyOf(name), [`category: '${category}'`, `cost: ${digits(cost)}`])).join("\n")}
  },
  base: {
${layerText("personal", windows, scenario.personal)}${site === null ? "" : `
${layerText("site", windows, site)}`}
  },
})

const quota = createQuota({ policy })
const request = {
  subject: ${quoted(stream?.subject ?? "")},
  operation: ${quoted(asked)},
} as const

for (let count = 1; count <= 1_000; count++) {
  const decision = await quota.consume(request)
  if (decision.allowed) continue
  console.log(\`request \${count} is refused\`)
  console.log(quotaExceededBody(decision))
  break
}
await quota.close()
`;
}
function layerText(name, windows, limits2) {
  const ofCategory = (category) => {
    const entries = windows.map((label, index) => `${keyOf(label)}: ${limitText(limits2[category][index] ?? null)}`);
    return entry(6, category, entries);
  };
  return `    ${name}: {
${CATEGORIES.map(ofCategory).join("\n")}
    },`;
}
function entry(indent, key, members) {
  const margin = " ".repeat(indent);
  const line = `${margin}${key}: { ${members.join(", ")} },`;
  if (line.length <= 72) return line;
  return `${margin}${key}: {
${members.map((each) => `${margin}  ${each},`).join("\n")}
${margin}},`;
}
function limitText(limit2) {
  return limit2 === null ? "'unlimited'" : digits(limit2);
}
function digits(value) {
  return String(value).replaceAll(/\B(?=(?:\d{3})+$)/g, "_");
}
function quoted(name) {
  return `'${name}'`;
}
function keyOf(name) {
  return /^[A-Za-z_]\w*$/.test(name) ? name : quoted(name);
}
const _sfc_main$8 = /* @__PURE__ */ defineComponent({
  __name: "code-panel",
  __ssrInlineRender: true,
  props: {
    scenario: {},
    address: {}
  },
  emits: ["notice", "reset"],
  setup(__props, { emit: __emit }) {
    const props = __props;
    const code = computed(() => codeOf(props.scenario));
    return (_ctx, _push, _parent, _attrs) => {
      _push(`<section${ssrRenderAttrs(mergeProps({ "aria-labelledby": "pg-code" }, _attrs))}><h2 id="pg-code">The same as code</h2><div class="row"><button type="button" class="main" data-do="copy-code">Copy the code</button><button type="button" class="main" data-do="copy-address"> Copy the address </button><button type="button" class="quiet" data-do="reset">Back to the example</button></div><pre tabindex="0" role="region" aria-label="Code" data-show="code">${ssrInterpolate(code.value)}</pre><p class="none"> The address of this page holds the limits, prices and traffic that you see: whoever opens it sees the same. </p></section>`);
    };
  }
});
const _sfc_setup$8 = _sfc_main$8.setup;
_sfc_main$8.setup = (props, ctx) => {
  const ssrContext = useSSRContext();
  (ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add(".vitepress/theme/playground/code-panel.vue");
  return _sfc_setup$8 ? _sfc_setup$8(props, ctx) : void 0;
};
const _sfc_main$7 = /* @__PURE__ */ defineComponent({
  __name: "limits-table",
  __ssrInlineRender: true,
  props: {
    "modelValue": { required: true },
    "modelModifiers": {}
  },
  emits: ["update:modelValue"],
  setup(__props) {
    const scenario = useModel(__props, "modelValue");
    const rows = computed(() => {
      const { personal, site } = scenario.value;
      const layers = [
        ["personal", personal],
        ...site === null ? [] : [["site", site]]
      ];
      return layers.flatMap(([layer, limits2]) => CATEGORIES.map((category) => ({ layer, category, limits: limits2 })));
    });
    const unused = computed(() => Object.keys(LENGTHS_MS).filter((label) => !scenario.value.windows.includes(label)));
    return (_ctx, _push, _parent, _attrs) => {
      _push(`<section${ssrRenderAttrs(mergeProps({ "aria-labelledby": "pg-limits" }, _attrs))}><h2 id="pg-limits">Limits <small>tokens; empty is unlimited</small></h2><table><thead><tr><td></td><!--[-->`);
      ssrRenderList(scenario.value.windows, (label, index) => {
        _push(`<th scope="col"><span class="window"><select${ssrRenderAttr("aria-label", `Length of window ${index + 1}`)}><option${ssrRenderAttr("value", label)}${ssrIncludeBooleanAttr(Array.isArray(scenario.value.windows[index]) ? ssrLooseContain(scenario.value.windows[index], label) : ssrLooseEqual(scenario.value.windows[index], label)) ? " selected" : ""}>${ssrInterpolate(label)}</option><!--[-->`);
        ssrRenderList(unused.value, (other) => {
          _push(`<option${ssrRenderAttr("value", other)}${ssrIncludeBooleanAttr(Array.isArray(scenario.value.windows[index]) ? ssrLooseContain(scenario.value.windows[index], other) : ssrLooseEqual(scenario.value.windows[index], other)) ? " selected" : ""}>${ssrInterpolate(other)}</option>`);
        });
        _push(`<!--]--></select>`);
        if (scenario.value.windows.length > 1) {
          _push(`<button type="button" class="small"${ssrRenderAttr("aria-label", `Remove window ${label}`)}> × </button>`);
        } else {
          _push(`<!---->`);
        }
        _push(`</span></th>`);
      });
      _push(`<!--]--></tr></thead><tbody><!--[-->`);
      ssrRenderList(rows.value, ({ layer, category, limits: limits2 }) => {
        _push(`<tr><th scope="row">${ssrInterpolate(layer)}<br>${ssrInterpolate(category)}</th><!--[-->`);
        ssrRenderList(scenario.value.windows, (label, index) => {
          _push(`<td><input type="text" class="field" inputmode="numeric" placeholder="∞" maxlength="13"${ssrRenderAttr("value", limits2[category][index] ?? "")}${ssrRenderAttr("aria-label", `${layer} ${category} limit for ${label}`)}${ssrRenderAttr("data-limit", `${layer}-${category}-${label}`)}></td>`);
        });
        _push(`<!--]--></tr>`);
      });
      _push(`<!--]--></tbody></table><div class="row"><label class="check"><input type="checkbox"${ssrIncludeBooleanAttr(scenario.value.site !== null) ? " checked" : ""} data-field="site"> limits of the whole site </label>`);
      if (scenario.value.windows.length < unref(MOST).windows) {
        _push(`<button type="button" class="quiet"> Add a window </button>`);
      } else {
        _push(`<!---->`);
      }
      _push(`</div></section>`);
    };
  }
});
const _sfc_setup$7 = _sfc_main$7.setup;
_sfc_main$7.setup = (props, ctx) => {
  const ssrContext = useSSRContext();
  (ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add(".vitepress/theme/playground/limits-table.vue");
  return _sfc_setup$7 ? _sfc_setup$7(props, ctx) : void 0;
};
const _sfc_main$6 = /* @__PURE__ */ defineComponent({
  __name: "price-list",
  __ssrInlineRender: true,
  props: {
    "modelValue": { required: true },
    "modelModifiers": {}
  },
  emits: ["update:modelValue"],
  setup(__props) {
    const scenario = useModel(__props, "modelValue");
    return (_ctx, _push, _parent, _attrs) => {
      _push(`<section${ssrRenderAttrs(mergeProps({ "aria-labelledby": "pg-prices" }, _attrs))}><h2 id="pg-prices">Prices <small>tokens a request</small></h2><ul class="prices"><!--[-->`);
      ssrRenderList(scenario.value.operations, (operation, index) => {
        _push(`<li><input${ssrRenderAttr("value", operation.name)} type="text" class="field" maxlength="32" spellcheck="false" autocapitalize="none"${ssrRenderAttr("aria-label", `Name of operation ${index + 1}`)}${ssrRenderAttr("data-field", `name-${index}`)}><select${ssrRenderAttr("aria-label", `Category of ${operation.name}`)}><!--[-->`);
        ssrRenderList(unref(CATEGORIES), (category) => {
          _push(`<option${ssrRenderAttr("value", category)}${ssrIncludeBooleanAttr(Array.isArray(operation.category) ? ssrLooseContain(operation.category, category) : ssrLooseEqual(operation.category, category)) ? " selected" : ""}>${ssrInterpolate(category)}</option>`);
        });
        _push(`<!--]--></select><input type="text" inputmode="numeric" maxlength="7" class="field"${ssrRenderAttr("value", Number.isNaN(operation.cost) ? "" : operation.cost)}${ssrRenderAttr("aria-label", `Price of ${operation.name} in tokens`)}${ssrRenderAttr("data-field", `cost-${index}`)}><button type="button" class="small"${ssrIncludeBooleanAttr(scenario.value.operations.length === 1) ? " disabled" : ""}${ssrRenderAttr("aria-label", `Remove ${operation.name}`)}> × </button></li>`);
      });
      _push(`<!--]--></ul><div class="row">`);
      if (scenario.value.operations.length < unref(MOST).operations) {
        _push(`<button type="button" class="quiet"> Add an operation </button>`);
      } else {
        _push(`<!---->`);
      }
      _push(`</div></section>`);
    };
  }
});
const _sfc_setup$6 = _sfc_main$6.setup;
_sfc_main$6.setup = (props, ctx) => {
  const ssrContext = useSSRContext();
  (ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add(".vitepress/theme/playground/price-list.vue");
  return _sfc_setup$6 ? _sfc_setup$6(props, ctx) : void 0;
};
function policyOf({ windows, personal, site, operations }) {
  return {
    windows: windows.map((label) => ({ label, lengthMs: LENGTHS_MS[label] ?? 0 })),
    categories: CATEGORIES,
    layers: [
      { name: "personal", scope: "Personal", shared: false },
      ...site === null ? [] : [{ name: "site", scope: "Site", shared: true }]
    ],
    operations: Object.fromEntries(operations.map(({ name, category, cost }) => [name, { category, cost }])),
    base: { personal: baseOf(windows, personal), ...site === null ? {} : { site: baseOf(windows, site) } }
  };
}
function baseOf(windows, limits2) {
  const ofCategory = (values) => Object.fromEntries(windows.map((label, index) => [label, values[index] ?? "unlimited"]));
  return { read: ofCategory(limits2.read), write: ofCategory(limits2.write) };
}
const BEGINNING = Date.UTC(2026, 7, 6, 14, 6, 26);
const COLUMNS = 60;
const HOUR_MS = 36e5;
class Simulation {
  #now = BEGINNING;
  #store;
  #quota;
  #scenario;
  /** Of each subject's stream, which part of the way to its next request is over, 0 to 1. */
  #progress = /* @__PURE__ */ new Map();
  #columns = [];
  #columnMs;
  #refusal;
  #admitted = 0;
  #refused = 0;
  constructor(scenario) {
    this.#scenario = scenario;
    this.#store = memoryStore({ clock: this.#clock });
    this.#quota = this.#engine();
    this.#columnMs = columnMs(scenario);
  }
  #clock = { now: () => this.#now };
  /** What there is to see now, with the windows of this subject. */
  look(subject) {
    return {
      now: this.#now,
      windows: this.#quota.statusSync(subject).windows,
      columns: this.#columns,
      column: this.#column(),
      columnMs: this.#columnMs,
      admitted: this.#admitted,
      refused: this.#refused,
      refusal: this.#refusal
    };
  }
  /** Plays another scenario from here on: the counters stay, by the rules for policies that change. */
  change(scenario) {
    const before = this.#scenario;
    this.#scenario = scenario;
    if (JSON.stringify(policyOf(before)) !== JSON.stringify(policyOf(scenario))) this.#quota = this.#engine();
    const wanted = columnMs(scenario);
    if (wanted === this.#columnMs) return;
    this.#columnMs = wanted;
    this.#columns = [];
  }
  /** Everything from the beginning: the clock, the counters, what was counted. */
  restart() {
    this.#now = BEGINNING;
    this.#store = memoryStore({ clock: this.#clock });
    this.#quota = this.#engine();
    this.#progress.clear();
    this.#columns = [];
    this.#refusal = void 0;
    this.#admitted = 0;
    this.#refused = 0;
  }
  /** Lets time pass, in whole milliseconds, with the requests that come in it. */
  advance(ms) {
    const end = this.#now + ms;
    for (; ; ) {
      const next = this.#next();
      if (next === void 0 || next.at > end) break;
      this.#pass(next.at);
      this.#progress.set(next.subject, 0);
      this.ask(next.subject, next.operation);
    }
    this.#pass(end);
  }
  /** One request, now. */
  ask(subject, operation) {
    const name = this.#scenario.operations[operation]?.name ?? "";
    const decision = this.#quota.consumeSync({ subject, operation: name });
    if (!decision.allowed) this.#refusal = decision;
    if (decision.allowed) this.#admitted++;
    else this.#refused++;
    this.#count(decision.allowed);
    return decision;
  }
  #column() {
    return Math.floor((this.#now - BEGINNING) / this.#columnMs);
  }
  #engine() {
    return createQuota({ policy: policyOf(this.#scenario), store: this.#store, clock: this.#clock });
  }
  #next() {
    let first;
    for (const { subject, operation, perHour } of this.#scenario.streams) {
      if (perHour === 0) continue;
      const at = this.#now + Math.ceil((1 - (this.#progress.get(subject) ?? 0)) * (HOUR_MS / perHour));
      if (first === void 0 || at < first.at) first = { at, subject, operation };
    }
    return first;
  }
  #pass(at) {
    for (const { subject, perHour } of this.#scenario.streams) {
      const passed = (at - this.#now) * perHour / HOUR_MS;
      this.#progress.set(subject, Math.min(1, (this.#progress.get(subject) ?? 0) + passed));
    }
    this.#now = at;
  }
  #count(allowed) {
    const index = this.#column();
    let column = this.#columns.at(-1);
    if (column?.index !== index) {
      column = { index, admitted: 0, refused: 0 };
      this.#columns.push(column);
      this.#columns = this.#columns.filter((each) => each.index > index - COLUMNS);
    }
    if (allowed) column.admitted++;
    else column.refused++;
  }
}
function columnMs({ windows }) {
  return Math.min(...windows.map((label) => LENGTHS_MS[label] ?? HOUR_MS)) / 12;
}
const _sfc_main$5 = /* @__PURE__ */ defineComponent({
  __name: "time-bar",
  __ssrInlineRender: true,
  props: /* @__PURE__ */ mergeModels({
    view: {},
    playing: { type: Boolean }
  }, {
    "speedMs": { required: true },
    "speedMsModifiers": {}
  }),
  emits: /* @__PURE__ */ mergeModels(["advance", "play", "restart"], ["update:speedMs"]),
  setup(__props) {
    const props = __props;
    const speedMs = useModel(__props, "speedMs");
    const STEPS = [
      ["+1 min", 6e4],
      ["+15 min", 9e5],
      ["+1 h", 36e5],
      ["+1 d", 864e5]
    ];
    const shown2 = computed(() => ({
      at: instantText(props.view.now),
      passed: lengthText(props.view.now - BEGINNING)
    }));
    return (_ctx, _push, _parent, _attrs) => {
      _push(`<section${ssrRenderAttrs(mergeProps({ "aria-label": "Time" }, _attrs))}><button type="button" class="main" data-do="play">${ssrInterpolate(__props.playing ? "Pause" : "Play")}</button><label class="speed"><span>a second is</span><select data-field="speed"><!--[-->`);
      ssrRenderList(unref(SPEEDS), ([ms, text2]) => {
        _push(`<option${ssrRenderAttr("value", ms)}${ssrIncludeBooleanAttr(Array.isArray(speedMs.value) ? ssrLooseContain(speedMs.value, ms) : ssrLooseEqual(speedMs.value, ms)) ? " selected" : ""}>${ssrInterpolate(text2)}</option>`);
      });
      _push(`<!--]--></select></label><span class="turn" role="group" aria-label="Turn time"><!--[-->`);
      ssrRenderList(STEPS, ([text2, ms]) => {
        _push(`<button type="button"${ssrRenderAttr("data-turn", ms)}>${ssrInterpolate(text2)}</button>`);
      });
      _push(`<!--]--></span><button type="button" data-do="restart">Begin again</button><span class="clock"><time data-show="now">${ssrInterpolate(shown2.value.at)}</time> UTC<small>${ssrInterpolate(shown2.value.passed)} passed</small></span></section>`);
    };
  }
});
const _sfc_setup$5 = _sfc_main$5.setup;
_sfc_main$5.setup = (props, ctx) => {
  const ssrContext = useSSRContext();
  (ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add(".vitepress/theme/playground/time-bar.vue");
  return _sfc_setup$5 ? _sfc_setup$5(props, ctx) : void 0;
};
const HEIGHT = 60;
const _sfc_main$4 = /* @__PURE__ */ defineComponent({
  __name: "time-line",
  __ssrInlineRender: true,
  props: {
    view: {}
  },
  setup(__props) {
    const props = __props;
    const bars = computed(() => {
      const { columns, column } = props.view;
      const most = Math.max(1, ...columns.map(({ admitted: admitted2, refused: refused2 }) => admitted2 + refused2));
      return columns.map(({ index, admitted: admitted2, refused: refused2 }) => ({
        x: COLUMNS - 1 - (column - index),
        admitted: HEIGHT * admitted2 / most,
        refused: HEIGHT * refused2 / most
      }));
    });
    const span = computed(() => lengthText(props.view.columnMs * COLUMNS));
    return (_ctx, _push, _parent, _attrs) => {
      _push(`<section${ssrRenderAttrs(mergeProps({ "aria-labelledby": "pg-timeline" }, _attrs))}><h2 id="pg-timeline">Requests</h2><svg${ssrRenderAttr("viewBox", `0 0 ${unref(COLUMNS)} ${HEIGHT}`)} preserveAspectRatio="none" role="img" aria-labelledby="pg-counts"><!--[-->`);
      ssrRenderList(bars.value, (bar) => {
        _push(`<!--[--><rect class="admitted"${ssrRenderAttr("x", bar.x + 0.1)}${ssrRenderAttr("y", HEIGHT - bar.admitted)} width="0.8"${ssrRenderAttr("height", bar.admitted)}></rect><rect class="refused"${ssrRenderAttr("x", bar.x + 0.1)}${ssrRenderAttr("y", HEIGHT - bar.admitted - bar.refused)} width="0.8"${ssrRenderAttr("height", bar.refused)}></rect><!--]-->`);
      });
      _push(`<!--]--></svg><p id="pg-counts" class="counts"><span class="key admitted"></span><b data-show="admitted">${ssrInterpolate(unref(amountText)(__props.view.admitted))}</b> admitted <span class="key refused"></span><b data-show="refused">${ssrInterpolate(unref(amountText)(__props.view.refused))}</b> refused <small>the last ${ssrInterpolate(span.value)}</small></p></section>`);
    };
  }
});
const _sfc_setup$4 = _sfc_main$4.setup;
_sfc_main$4.setup = (props, ctx) => {
  const ssrContext = useSSRContext();
  (ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add(".vitepress/theme/playground/time-line.vue");
  return _sfc_setup$4 ? _sfc_setup$4(props, ctx) : void 0;
};
const _sfc_main$3 = /* @__PURE__ */ defineComponent({
  __name: "traffic-panel",
  __ssrInlineRender: true,
  props: {
    "modelValue": { required: true },
    "modelModifiers": {},
    "watched": { required: true },
    "watchedModifiers": {}
  },
  emits: /* @__PURE__ */ mergeModels(["ask"], ["update:modelValue", "update:watched"]),
  setup(__props) {
    const scenario = useModel(__props, "modelValue");
    const watched = useModel(__props, "watched");
    const unused = computed(() => SUBJECTS.find((name) => scenario.value.streams.every(({ subject }) => subject !== name)));
    return (_ctx, _push, _parent, _attrs) => {
      _push(`<section${ssrRenderAttrs(mergeProps({ "aria-labelledby": "pg-traffic" }, _attrs))}><h2 id="pg-traffic">Traffic</h2><ul class="streams"><!--[-->`);
      ssrRenderList(scenario.value.streams, (stream, index) => {
        _push(`<li><label class="who"><input${ssrIncludeBooleanAttr(ssrLooseEqual(watched.value, stream.subject)) ? " checked" : ""} type="radio" name="pg-watched"${ssrRenderAttr("value", stream.subject)}><span>${ssrInterpolate(stream.subject)}</span></label><label><span class="vh">What ${ssrInterpolate(stream.subject)} asks for</span><select${ssrRenderAttr("data-field", `operation-${stream.subject}`)}><!--[-->`);
        ssrRenderList(scenario.value.operations, (operation, at) => {
          _push(`<option${ssrRenderAttr("value", at)}${ssrIncludeBooleanAttr(Array.isArray(stream.operation) ? ssrLooseContain(stream.operation, at) : ssrLooseEqual(stream.operation, at)) ? " selected" : ""}>${ssrInterpolate(operation.name)}</option>`);
        });
        _push(`<!--]--></select></label><label class="rate"><span class="vh">How often ${ssrInterpolate(stream.subject)} asks</span><input type="range" min="0"${ssrRenderAttr("max", unref(RATES).length - 1)} step="1"${ssrRenderAttr("value", unref(RATES).indexOf(stream.perHour))}${ssrRenderAttr("aria-valuetext", unref(rateText)(stream.perHour))}${ssrRenderAttr("data-field", `rate-${stream.subject}`)}><output>${ssrInterpolate(unref(rateText)(stream.perHour))}</output></label><button type="button" class="small"${ssrIncludeBooleanAttr(scenario.value.streams.length === 1) ? " disabled" : ""}${ssrRenderAttr("aria-label", `Remove ${stream.subject}`)}> × </button></li>`);
      });
      _push(`<!--]--></ul><div class="row"><!--[-->`);
      ssrRenderList(scenario.value.operations, (operation, at) => {
        _push(`<button type="button"${ssrRenderAttr("data-ask", operation.name)}>${ssrInterpolate(operation.name)} as ${ssrInterpolate(watched.value)}</button>`);
      });
      _push(`<!--]-->`);
      if (scenario.value.streams.length < unref(MOST).streams) {
        _push(`<button type="button" class="quiet" data-do="add-stream"> Add ${ssrInterpolate(unused.value)}</button>`);
      } else {
        _push(`<!---->`);
      }
      _push(`</div></section>`);
    };
  }
});
const _sfc_setup$3 = _sfc_main$3.setup;
_sfc_main$3.setup = (props, ctx) => {
  const ssrContext = useSSRContext();
  (ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add(".vitepress/theme/playground/traffic-panel.vue");
  return _sfc_setup$3 ? _sfc_setup$3(props, ctx) : void 0;
};
const _sfc_main$2 = /* @__PURE__ */ defineComponent({
  __name: "window-meters",
  __ssrInlineRender: true,
  props: {
    view: {},
    subject: {}
  },
  setup(__props) {
    const props = __props;
    const groups = computed(() => {
      const { windows } = props.view;
      return ["personal", "site"].flatMap(
        (layer) => CATEGORIES.map((category) => ({
          title: `${layer === "site" ? "everybody" : props.subject}, ${category}`,
          windows: (windows[category] ?? []).filter((each) => each.layer === layer)
        })).filter((group2) => group2.windows.length > 0)
      );
    });
    function share({ used, limit: limit2 }) {
      if (limit2 === "unlimited") return 0;
      return limit2 === 0 ? 100 : Math.min(100, 100 * used / limit2);
    }
    function endText({ resetAt }) {
      return resetAt === null ? "not open" : `ends in ${lengthText(resetAt - props.view.now)}`;
    }
    function amounts({ used, limit: limit2 }) {
      return `${amountText(used)} of ${limit2 === "unlimited" ? "∞" : amountText(limit2)}`;
    }
    return (_ctx, _push, _parent, _attrs) => {
      _push(`<section${ssrRenderAttrs(mergeProps({ "aria-labelledby": "pg-windows" }, _attrs))}><h2 id="pg-windows">Windows</h2><div class="groups"><!--[-->`);
      ssrRenderList(groups.value, (group2) => {
        _push(`<div><h3>${ssrInterpolate(group2.title)}</h3><!--[-->`);
        ssrRenderList(group2.windows, (each) => {
          _push(`<div role="meter" aria-valuemin="0" aria-valuemax="100"${ssrRenderAttr("aria-valuenow", Math.round(share(each)))}${ssrRenderAttr("aria-valuetext", `${amounts(each)} tokens, ${endText(each)}`)}${ssrRenderAttr("aria-label", `${group2.title}, ${each.window}`)}${ssrRenderAttr("data-window", `${each.layer}-${each.category}-${each.window}`)} class="${ssrRenderClass([{ nearly: share(each) >= 80, full: share(each) >= 100 }, "meter"])}"><span class="label">${ssrInterpolate(each.window)}</span><span class="track"><span class="fill" style="${ssrRenderStyle({ width: `${share(each)}%` })}"></span></span><span class="amounts">${ssrInterpolate(amounts(each))}</span><span class="ends">${ssrInterpolate(endText(each))}</span></div>`);
        });
        _push(`<!--]--></div>`);
      });
      _push(`<!--]--></div></section>`);
    };
  }
});
const _sfc_setup$2 = _sfc_main$2.setup;
_sfc_main$2.setup = (props, ctx) => {
  const ssrContext = useSSRContext();
  (ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add(".vitepress/theme/playground/window-meters.vue");
  return _sfc_setup$2 ? _sfc_setup$2(props, ctx) : void 0;
};
const LONGEST_FRAME_MS = 250;
const _sfc_main$1 = /* @__PURE__ */ defineComponent({
  __name: "play-ground",
  __ssrInlineRender: true,
  setup(__props) {
    const draft = ref(defaultScenario());
    const played = shallowRef(defaultScenario());
    const simulation = new Simulation(played.value);
    const watched = ref("ann");
    const view = shallowRef(simulation.look("ann"));
    const playing = ref(false);
    const notice = ref("");
    const fault = computed(() => faultOf$1(draft.value));
    const address = ref("");
    let frame = 0;
    let before = 0;
    let rest = 0;
    function copyOf2(scenario) {
      return JSON.parse(JSON.stringify(scenario));
    }
    watch(
      draft,
      (next) => {
        if (fault.value !== void 0) return;
        played.value = copyOf2(next);
        simulation.change(played.value);
        if (!next.streams.some(({ subject }) => subject === watched.value)) watched.value = next.streams[0]?.subject ?? "";
        look();
        keepInAddress();
      },
      { deep: true }
    );
    watch(watched, look);
    function look() {
      view.value = simulation.look(watched.value);
    }
    function keepInAddress() {
      const fragment = fragmentOf(played.value);
      const isDefault = fragment === fragmentOf(defaultScenario());
      address.value = `${location.origin}${location.pathname}#${fragment}`;
      const shown2 = isDefault ? location.pathname : `#${fragment}`;
      history.replaceState(history.state, "", shown2);
    }
    function open() {
      address.value = location.href;
      if (!/^#v\d/.test(location.hash)) return;
      const read = readFragment(location.hash.slice(1));
      if ("fault" in read) {
        notice.value = read.fault;
        return;
      }
      if (fragmentOf(read.scenario) === fragmentOf(played.value)) return;
      draft.value = copyOf2(read.scenario);
      simulation.restart();
      watched.value = read.scenario.streams[0]?.subject ?? "";
      notice.value = "Opened what the address holds.";
    }
    function step(at) {
      if (!playing.value) return;
      rest += Math.min(LONGEST_FRAME_MS, at - before) * (played.value.speedMs / 1e3);
      before = at;
      const whole = Math.floor(rest);
      rest -= whole;
      advance(whole);
      frame = requestAnimationFrame(step);
    }
    function advance(ms) {
      simulation.advance(ms);
      look();
    }
    function play() {
      playing.value = !playing.value;
      before = performance.now();
      if (playing.value) frame = requestAnimationFrame(step);
    }
    function ask(operation) {
      const { allowed, cost } = simulation.ask(watched.value, operation);
      look();
      notice.value = `${watched.value}: ${allowed ? `admitted, ${cost} tokens` : "refused, 429"}`;
    }
    function restart() {
      simulation.restart();
      look();
      notice.value = "Begun again: nothing is used.";
    }
    function reset() {
      draft.value = defaultScenario();
      restart();
    }
    onMounted(() => {
      open();
      addEventListener("hashchange", open);
    });
    onBeforeUnmount(() => {
      playing.value = false;
      cancelAnimationFrame(frame);
      removeEventListener("hashchange", open);
    });
    return (_ctx, _push, _parent, _attrs) => {
      _push(`<div${ssrRenderAttrs(mergeProps({ class: "playground" }, _attrs))}>`);
      _push(ssrRenderComponent(_sfc_main$5, {
        "speed-ms": draft.value.speedMs,
        "onUpdate:speedMs": ($event) => draft.value.speedMs = $event,
        class: "bar",
        view: view.value,
        playing: playing.value,
        onAdvance: advance,
        onPlay: play,
        onRestart: restart
      }, null, _parent));
      _push(`<p class="notice" role="status">${ssrInterpolate(notice.value)}</p>`);
      if (fault.value !== void 0) {
        _push(`<p class="fault" role="alert"> Not playable yet: ${ssrInterpolate(fault.value)}. What was there before goes on. </p>`);
      } else {
        _push(`<!---->`);
      }
      _push(`<div class="columns"><div class="inputs">`);
      _push(ssrRenderComponent(_sfc_main$3, {
        modelValue: draft.value,
        "onUpdate:modelValue": ($event) => draft.value = $event,
        watched: watched.value,
        "onUpdate:watched": ($event) => watched.value = $event,
        onAsk: ask
      }, null, _parent));
      _push(ssrRenderComponent(_sfc_main$7, {
        modelValue: draft.value,
        "onUpdate:modelValue": ($event) => draft.value = $event
      }, null, _parent));
      _push(ssrRenderComponent(_sfc_main$6, {
        modelValue: draft.value,
        "onUpdate:modelValue": ($event) => draft.value = $event
      }, null, _parent));
      _push(`</div><div class="outputs">`);
      _push(ssrRenderComponent(_sfc_main$2, {
        view: view.value,
        subject: watched.value
      }, null, _parent));
      _push(ssrRenderComponent(_sfc_main$4, { view: view.value }, null, _parent));
      _push(ssrRenderComponent(_sfc_main$9, {
        view: view.value,
        onWait: advance
      }, null, _parent));
      _push(`</div></div>`);
      _push(ssrRenderComponent(_sfc_main$8, {
        scenario: played.value,
        address: address.value,
        onNotice: ($event) => notice.value = $event,
        onReset: reset
      }, null, _parent));
      _push(`</div>`);
    };
  }
});
const _sfc_setup$1 = _sfc_main$1.setup;
_sfc_main$1.setup = (props, ctx) => {
  const ssrContext = useSSRContext();
  (ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add(".vitepress/theme/playground/play-ground.vue");
  return _sfc_setup$1 ? _sfc_setup$1(props, ctx) : void 0;
};
const __pageData = JSON.parse('{"title":"Playground","description":"","frontmatter":{"sidebar":false,"aside":false,"outline":false,"pageClass":"playground-page"},"headers":[],"relativePath":"playground.md","filePath":"playground.md"}');
const __default__ = { name: "playground.md" };
const _sfc_main = /* @__PURE__ */ Object.assign(__default__, {
  __ssrInlineRender: true,
  setup(__props) {
    return (_ctx, _push, _parent, _attrs) => {
      _push(`<div${ssrRenderAttrs(_attrs)}><h1 id="playground" tabindex="-1">Playground <a class="header-anchor" href="#playground" aria-label="Permalink to &quot;Playground&quot;">​</a></h1><p>The engine itself, in your browser: nothing is sent anywhere. Change limits and prices, let people ask, turn the time, and see which window refuses and what a refused caller is told.</p>`);
      _push(ssrRenderComponent(_sfc_main$1, null, null, _parent));
      _push(`</div>`);
    };
  }
});
const _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
  const ssrContext = useSSRContext();
  (ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("playground.md");
  return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
export {
  __pageData,
  _sfc_main as default
};
