/** The longest outside text that a message shows. */
const MAX_SHOWN = 40

/** Cuts a text to at most `most` characters, and marks the cut. */
export function cut(text: string, most: number): string {
  if (text.length <= most) return text
  // Removes half a surrogate pair at the end.
  return `${text.slice(0, most - 1).replace(/[\uD800-\uDBFF]$/, '')}…`
}

/** Returns an outside name on one line. */
export function plain(name: string, most: number = MAX_SHOWN): string {
  return cut(name, most).replace(/[\p{Cc}\u2028\u2029]/gu, '?')
}

/** Returns a value for messages: numbers and short texts unchanged, anything else as its kind. */
export function shown(value: unknown): string {
  if (typeof value === 'string') return `"${plain(value)}"`
  if (typeof value === 'number' || typeof value === 'boolean' || value === null) return String(value)
  if (typeof value === 'bigint') return `${plain(String(value))}n`
  return kindOf(value)
}

/** Returns the kind of a value without its content, because options may contain secrets. */
export function kindOf(value: unknown): string {
  if (value === undefined) return 'nothing'
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'an array'
  if (typeof value === 'function') return isClass(value) ? 'a class: pass an instance' : 'a function: call it'
  if (typeof value !== 'object') return `a ${typeof value}`
  if (typeof (value as { then?: unknown }).then === 'function') return 'a promise: await it first'
  const name: unknown = value.constructor?.name
  return typeof name !== 'string' || name === '' || name === 'Object' ? 'an object' : `an instance of ${plain(name)}`
}

function isClass(value: object): boolean {
  return /^class\b/.test(Function.prototype.toString.call(value))
}

/** User and password in a URL. */
const CREDENTIALS = /(\w:\/\/)[^\s/]*@/g

/** Returns an error's message without the credentials in URLs. */
export function errorText(error: unknown): string {
  const { errors } = Object(error) as { readonly errors?: unknown }
  // The error of a host with several addresses has no message, but one error per address.
  const attempts = Array.isArray(errors) ? errors.map(messageOf).join(', ') : ''
  return (messageOf(error) || attempts || String(error)).replaceAll(CREDENTIALS, '$1')
}

function messageOf(error: unknown): string {
  const { message } = Object(error) as { readonly message?: unknown }
  return typeof message === 'string' ? message : ''
}
