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
