import openapiTypescript, { astToString } from 'openapi-typescript'

/** The services, and under which name in `src/generated` the types of each are. */
export const SERVICES = ['gateway', 'sync', 'charts'] as const
export type Service = (typeof SERVICES)[number]

/** Where a service's types are kept. */
export function typesFile(service: Service): URL {
  return new URL(`../src/generated/${service}.ts`, import.meta.url)
}

/**
 * Types of a service's requests and answers.
 *
 * @param document the service's OpenAPI document, parsed
 */
export async function typesOf(document: object): Promise<string> {
  const nodes = await openapiTypescript(structuredClone(document) as Parameters<typeof openapiTypescript>[0], {
    // A default is what the service assumes: clients may leave the member out all the same.
    defaultNonNullable: false,
  })
  return `// Written by \`npm run client:types\`: do not edit.\n\n${astToString(nodes)}`
}
