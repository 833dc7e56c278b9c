/** A service whose error rate depends on how much its users are let in: the load follows the factor. */
export interface Plant {
  readonly name: string
  /** `soft`: errors grow smoothly with the load; `cliff`: they jump where the load passes what the service can carry. */
  readonly kind: 'soft' | 'cliff'
  /** Error rate, 0..1, at a load; 1 is the load at factor 1. */
  errorRate(load: number): number
}

/** Grows exponentially from one rate at load 0.75 to another at 1.5. */
function soft(name: string, atLowest: number, atHighest: number): Plant {
  const growth = Math.log(atHighest / atLowest) / 0.75
  return { name, kind: 'soft', errorRate: (load) => Math.min(1, atLowest * Math.exp(growth * (load - 0.75))) }
}

/** One rate below what the service carries, another above. */
function cliff(name: string, carries: number, below: number, above: number): Plant {
  return { name, kind: 'cliff', errorRate: (load) => (load > carries ? above : below) }
}

/** A queue that drops what exceeds its room. */
const queue: Plant = {
  name: 'queue of 1.10',
  kind: 'cliff',
  errorRate: (load) => Math.max(0.0005, 1 - 1.1 / load),
}

export const PLANTS: readonly Plant[] = [
  soft('0.05 % to 1 %', 0.0005, 0.01),
  soft('0.1 % to 4 %', 0.001, 0.04),
  soft('0.2 % to 10 %', 0.002, 0.1),
  soft('0.5 % to 30 %', 0.005, 0.3),
  cliff('5 % above 0.82', 0.82, 0.001, 0.05),
  cliff('30 % above 0.97', 0.97, 0.001, 0.3),
  queue,
  cliff('10 % above 1.37', 1.37, 0.0005, 0.1),
]

/** Carries any load. */
export function healthy(errorRate: number): Plant {
  return { name: `healthy at ${errorRate}`, kind: 'soft', errorRate: () => errorRate }
}
