// Words and names that the ratchets count, each with what to write instead. Names in `ratchets.json` are the keys.

/** @typedef {{ readonly pattern: RegExp, readonly instead: string }} Counted */

/**
 * Counted in sources, tests and pages, in any case.
 *
 * @type {Readonly<Record<string, Counted>>}
 */
export const WORDS = {
  told: { pattern: /\btold\b/gi, instead: 'informed, reported' },
  tell: { pattern: /\btell(?:s|ing)?\b/gi, instead: 'warn, report, notify' },
  hear: { pattern: /\bhear(?:s|d|ing)?\b/gi, instead: 'is notified of, receives' },
  whoever: { pattern: /\bwhoever\b/gi, instead: 'anyone who, the caller' },
  somebody: { pattern: /\bsomebody\b/gi, instead: 'the caller, someone' },
  nobody: { pattern: /\bnobody\b/gi, instead: 'no caller, no process' },
  everybody: { pattern: /\beverybody\b/gi, instead: 'all subjects, everyone' },
  anew: { pattern: /\banew\b/gi, instead: 'again' },
  thereafter: { pattern: /\bthereafter\b/gi, instead: 'from then on' },
  mend: { pattern: /\bmend(?:s|ed|ing)?\b/gi, instead: 'repair, fix' },
  heed: { pattern: /\bheed(?:s|ed|ing)?\b/gi, instead: 'respect, follow' },
  look: { pattern: /\blook(?:s|ed|ing)?\b(?! ?up)/gi, instead: 'read, check' },
  ask: { pattern: /\bask(?:s|ed|ing)?\b/gi, instead: 'request, call (only a question is asked)' },
  alone: { pattern: /\balone\b/gi, instead: 'only, separately' },
  beside: { pattern: /\bbeside\b/gi, instead: 'compared with, next to, while' },
  stranger: { pattern: /\bstrangers?\b/gi, instead: 'unknown key, newcomer' },
  'under way': { pattern: /\bunder way\b/gi, instead: 'in flight, in progress' },
  'at once': { pattern: /\bat once\b/gi, instead: 'atomically, immediately or together' },
  'goes by': { pattern: /\bgo(?:es)? by\b/gi, instead: 'follows, uses' },
  'of it': { pattern: /\bof it\b/gi, instead: 'its, or the noun' },
  whatever: { pattern: /\b(?:whatever|whichever|however (?:many|long|much))\b/gi, instead: 'any' },
  'is none': {
    pattern: /(?<!\bthere )\b(?:is none|is no (?!longer|more)[a-z]+|that there is not|what is not)\b/gi,
    instead: "unknown, invalid, isn't",
  },
  'of ... of': { pattern: /\bof (?:[\w'`-]+ ){1,4}of\b/gi, instead: 'a noun that needs no other three' },
  'docstring What': {
    pattern: /\/\*\*\s+(?:\* )?What\b/g,
    instead: 'a docstring that begins with "The ..." or a verb',
  },
}

/**
 * Counted in `packages/*\/src`, comments included.
 *
 * @type {Readonly<Record<string, Counted>>}
 */
export const NAMES = {
  Terms: { pattern: /\b\w*Terms\b/g, instead: 'HoldOptions, LimitInputs, QuotasInForce: say of what' },
  Turn: { pattern: /\b(?:[A-Z]\w*)?Turn\b/g, instead: 'Attempts, BatchTransaction, Job' },
  // Lines of a log stay lines.
  Line: { pattern: /\b(?!(?:Log|Record|Scanned|OperationOf)Line)(?:[A-Z]\w*)?Line\b/g, instead: 'Connection' },
  Held: { pattern: /\b(?:[A-Z]\w*)?Held\b/g, instead: 'Settleable, HeldTokens' },
  Known: { pattern: /\b(?:[A-Z]\w*)?Known\b/g, instead: 'CacheEntry, cached' },
  letter: { pattern: /\bletters?\b/gi, instead: 'status' },
  desk: { pattern: /\b\w*desk\b/gi, instead: 'effects' },
  odd: { pattern: /\bodd\b/gi, instead: 'slow_path' },
  NoAnswer: { pattern: /\bNoAnswer\b/g, instead: 'StoreFailure' },
  Parts: { pattern: /\b[A-Z]\w*Parts\b/g, instead: '...Deps, ...Options' },
  giveBack: { pattern: /\bgiveBack\w*/g, instead: 'refund' },
  line: { pattern: /\blineTo\b/g, instead: 'connection, connectionTo' },
  look: { pattern: /#look(?:ing)?\b|\b[A-Z]\w*Look\b/g, instead: 'read, poll, check: say which' },
  heard: { pattern: /#heard\b|\bheard\(/g, instead: 'received, onMessage' },
  asked: { pattern: /\b[aA]sked\w+|#asked?\b/g, instead: 'requested' },
  gives: { pattern: /\b(?:PlacedGive|\w+Gives)\b/g, instead: 'refunds' },
  ParsedOptions: { pattern: /\bexport (?:type|interface) ParsedOptions\b/g, instead: 'Parsed...Options: say of what' },
  askAgain: { pattern: /\baskAgain\b/g, instead: 'requeue' },
  stranger: { pattern: /\b\w*[sS]tranger\w*/g, instead: 'unknownKey' },
}
