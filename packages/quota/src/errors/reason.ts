/** User and password in an address. */
const CREDENTIALS = /(\w:\/\/)[^\s/]*@/g

/** What an error says, without the credentials of addresses in it. */
export function errorText(error: unknown): string {
  const { errors } = Object(error) as { readonly errors?: unknown }
  // A host with several addresses: the error about all of them has no text of its own.
  const attempts = Array.isArray(errors) ? errors.map(messageOf).join(', ') : ''
  return (messageOf(error) || attempts || String(error)).replaceAll(CREDENTIALS, '$1')
}

function messageOf(error: unknown): string {
  const { message } = Object(error) as { readonly message?: unknown }
  return typeof message === 'string' ? message : ''
}
