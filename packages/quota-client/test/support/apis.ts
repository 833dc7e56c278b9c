/** Responses of public APIs as their documentation shows them, and what they say. */
export interface DocumentedResponse {
  readonly api: string
  readonly headers: Readonly<Record<string, string>>
  /** Name, remaining, milliseconds until more is there. */
  readonly limits: readonly (readonly [string, number, number])[]
}

export const documented: readonly DocumentedResponse[] = [
  {
    // docs.github.com, "Rate limits for the REST API": epoch seconds.
    api: 'GitHub',
    headers: {
      date: 'Mon, 01 Jul 2013 17:27:06 GMT',
      'x-ratelimit-limit': '60',
      'x-ratelimit-remaining': '56',
      'x-ratelimit-used': '4',
      'x-ratelimit-reset': '1372700873',
    },
    limits: [['', 56, 1_372_700_873_000 - Date.UTC(2013, 6, 1, 17, 27, 6) + 1000]],
  },
  {
    // docs.gitlab.com, "Rate limits".
    api: 'GitLab',
    headers: {
      date: 'Wed, 17 Jul 2019 00:57:57 GMT',
      'ratelimit-limit': '600',
      'ratelimit-observed': '6',
      'ratelimit-remaining': '594',
      'ratelimit-reset': '1563325137',
      'ratelimit-resettime': 'Wed, 17 Jul 2019 00:58:57 GMT',
    },
    limits: [['', 594, 61_000]],
  },
  {
    // platform.openai.com, "Rate limits": durations.
    api: 'OpenAI',
    headers: {
      'x-ratelimit-limit-requests': '60',
      'x-ratelimit-limit-tokens': '150000',
      'x-ratelimit-remaining-requests': '59',
      'x-ratelimit-remaining-tokens': '149984',
      'x-ratelimit-reset-requests': '1s',
      'x-ratelimit-reset-tokens': '6m0s',
    },
    limits: [
      ['requests', 59, 1000],
      ['tokens', 149_984, 360_000],
    ],
  },
  {
    // The API's "Rate limits", response headers: RFC 3339.
    api: 'Anthropic',
    headers: {
      date: 'Sat, 25 Oct 2025 11:59:30 GMT',
      'anthropic-ratelimit-requests-limit': '50',
      'anthropic-ratelimit-requests-remaining': '49',
      'anthropic-ratelimit-requests-reset': '2025-10-25T12:00:00Z',
      'anthropic-ratelimit-input-tokens-limit': '50000',
      'anthropic-ratelimit-input-tokens-remaining': '49500',
      'anthropic-ratelimit-input-tokens-reset': '2025-10-25T12:01:00Z',
    },
    limits: [
      ['input-tokens', 49_500, 91_000],
      ['requests', 49, 31_000],
    ],
  },
  {
    // docs.discord.com, "Rate limits": an epoch and a delta; the delta counts. The figures are made up.
    api: 'Discord',
    headers: {
      'x-ratelimit-limit': '5',
      'x-ratelimit-remaining': '0',
      'x-ratelimit-reset': '1470173023',
      'x-ratelimit-reset-after': '1.25',
      'x-ratelimit-bucket': 'abcd1234',
    },
    limits: [['', 0, 1250]],
  },
  {
    // developer.x.com, "Rate limits".
    api: 'X',
    headers: {
      date: 'Fri, 09 Jun 2017 19:59:01 GMT',
      'x-rate-limit-limit': '2000',
      'x-rate-limit-remaining': '1999',
      'x-rate-limit-reset': '1497039241',
    },
    limits: [['', 1999, 901_000]],
  },
  {
    // The API's announcement of its fields: figures need not be whole.
    api: 'Reddit',
    headers: { 'x-ratelimit-used': '4', 'x-ratelimit-remaining': '596.0', 'x-ratelimit-reset': '300' },
    limits: [['', 596, 300_000]],
  },
  {
    // shopify.dev, "REST Admin API rate limits": how full a leaking bucket is.
    api: 'Shopify',
    headers: { 'x-shopify-shop-api-call-limit': '32/40' },
    limits: [['shopify', 8, 500]],
  },
  {
    // developers.cloudflare.com, "API limits": draft 8 and later.
    api: 'Cloudflare',
    headers: { ratelimit: '"default";r=50;t=30', 'ratelimit-policy': '"burst";q=100;w=60' },
    limits: [['default', 50, 30_000]],
  },
  {
    api: 'draft 7',
    headers: { ratelimit: 'limit=100, remaining=50, reset=5', 'ratelimit-policy': '100;w=60' },
    limits: [['', 50, 5000]],
  },
  {
    api: 'drafts 3 to 6',
    headers: { 'ratelimit-limit': '100, 100;w=10', 'ratelimit-remaining': '9', 'ratelimit-reset': '4' },
    limits: [['', 9, 4000]],
  },
  {
    api: 'draft 11, several limits, one without an end',
    headers: {
      ratelimit: '"user-1m";r=3;t=12, "team-1h";r=0, "slots";r=2',
      'ratelimit-policy': '"user-1m";q=10;w=60, "team-1h";q=5;w=3600;qu="tokens, \\"all\\"", "slots";q=4',
    },
    limits: [
      ['user-1m', 3, 12_000],
      ['team-1h', 0, 3_600_000],
    ],
  },
  { api: 'Stripe, which names no limits', headers: { 'request-id': 'req_1' }, limits: [] },
  { api: 'broken fields', headers: { ratelimit: '"a";r=x;t=1', 'x-ratelimit-remaining': 'many' }, limits: [] },
  { api: 'fields without figures', headers: { 'x-ratelimit-remaining': '', 'x-ratelimit-reset': '-5' }, limits: [] },
]
