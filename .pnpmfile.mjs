/** What only the workspace needs does not go into a published manifest: names of private packages, paths to sources. */
function beforePacking(manifest) {
  delete manifest.devDependencies
  delete manifest.scripts
  for (const conditions of Object.values(manifest.exports ?? {})) delete conditions['@scoregw/source']
  return manifest
}

export const hooks = { beforePacking }
