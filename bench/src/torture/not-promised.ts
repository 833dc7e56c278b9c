import type { TortureCase } from '@scoregw/quota-testkit/torture'

/** Why a case says nothing against a library, with a link to its authors' words. */
export interface NotPromised {
  readonly because: string
  readonly source: string
}

type Notes = Readonly<Partial<Record<TortureCase, NotPromised>>>

const FLEXIBLE = 'https://github.com/animir/node-rate-limiter-flexible'
const NO_WORD_ON_CLOCKS = 'Its documentation says nothing of clocks that are set.'
const HITS = 'Each limiter counts requests, refused ones too.'

function clocks(source: string): Notes {
  const note = { because: NO_WORD_ON_CLOCKS, source }
  return {
    'a clock that steps back forgives nothing and locks nobody out': note,
    'a clock that jumps and is put right locks nobody out': note,
  }
}

function stacked(because: string, source: string): Notes {
  return { 'what one of two limits refuses is charged in neither': { because, source } }
}

/** By package: the limits of its promises, according to its documentation or authors. */
export const NOT_PROMISED: Readonly<Record<string, Notes>> = {
  'rate-limiter-flexible': {
    ...stacked('Each limiter of a union consumes by itself.', `${FLEXIBLE}/issues/280`),
    'a refusal charges nothing': {
      because:
        'Its author: all limiters consume points, also where none are left, so that actions are counted exactly.',
      source: `${FLEXIBLE}/pull/69`,
    },
    'no cost makes room': {
      because: 'Costs are not checked; `reward()` is the documented way to give points back.',
      source: `${FLEXIBLE}/wiki/API-methods`,
    },
  },
  'express-rate-limit': {
    ...clocks('https://express-rate-limit.mintlify.app/'),
    ...stacked(HITS, 'https://github.com/express-rate-limit/express-rate-limit/issues/130'),
  },
  '@fastify/rate-limit': {
    ...clocks('https://github.com/fastify/fastify-rate-limit#readme'),
    'no other subject evicts a live counter': {
      because: 'The option `cache` is the size of an LRU cache of clients, 5,000 by default.',
      source: 'https://github.com/fastify/fastify-rate-limit#options',
    },
  },
  'hono-rate-limiter': {
    ...clocks('https://github.com/rhinobase/hono-rate-limiter#readme'),
    ...stacked(HITS, 'https://github.com/rhinobase/hono-rate-limiter#readme'),
  },
  bottleneck: {
    ...clocks('https://github.com/SGrondin/bottleneck#readme'),
    'no cost makes room': {
      because: 'A weight must be a whole number from 0; others are not checked.',
      source: 'https://github.com/SGrondin/bottleneck#job-options',
    },
  },
  '@nestjs/throttler': {
    'a clock that jumps and is put right locks nobody out': {
      because: NO_WORD_ON_CLOCKS,
      source: 'https://github.com/nestjs/throttler#readme',
    },
    ...stacked(
      'Throttlers are asked in turn; nothing is said of what the first ones counted.',
      'https://github.com/nestjs/throttler#multiple-throttler-definitions',
    ),
  },
}
