// What the client and the server program share: arguments, one JSON object a
// line on standard output, and certificates made on the spot.

import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { OPCUACertificateManager } from "node-opcua-certificate-manager";
import { MessageSecurityMode, SecurityPolicy } from "node-opcua-client";

// node-opcua reports what it thinks of certificates and padding through
// console.log. Standard output belongs to the JSON lines here, so everything it
// says goes to standard error.
const stdout = process.stdout;
for (const name of ["log", "info", "debug", "warn", "error"]) {
  console[name] = (...args) => process.stderr.write(`${args.map(String).join(" ")}\n`);
}

/** Writes one JSON line; 64-bit integers and buffers take a readable form. */
export function emit(object) {
  stdout.write(`${JSON.stringify(object, (_key, value) => {
    if (typeof value === "bigint") return value.toString();
    return value;
  })}\n`);
}

/** Parses "--name value" and "--flag"; a name given twice collects a list. */
export function parseArguments(argv, flags) {
  const options = {};
  for (let i = 0; i < argv.length; i++) {
    if (!argv[i].startsWith("--")) throw new Error(`unexpected argument ${argv[i]}`);
    const name = argv[i].slice(2);
    if (!(name in flags)) throw new Error(`unknown flag --${name}`);
    if (flags[name] === "boolean") {
      options[name] = true;
      continue;
    }
    const value = argv[++i];
    if (value === undefined) throw new Error(`--${name} needs a value`);
    if (flags[name] === "list") (options[name] ??= []).push(value);
    else options[name] = value;
  }
  return options;
}

/** The URI of a policy's short name, as node-opcua spells it. */
export function policyOf(name) {
  const uri = SecurityPolicy[name];
  if (uri === undefined) throw new Error(`node-opcua has no policy ${name}`);
  return uri;
}

/** The mode of its name in the standard. */
export function modeOf(name) {
  const mode = MessageSecurityMode[name];
  if (mode === undefined) throw new Error(`no security mode ${name}`);
  return mode;
}

/**
 * A certificate folder with a self-signed certificate in it. Everybody is
 * accepted: trust is the subject of our own tests, here it would only hide
 * whether two stacks understand each other.
 */
export async function makePki(folder, name, applicationUri) {
  const manager = new OPCUACertificateManager({
    rootFolder: folder,
    automaticallyAcceptUnknownCertificate: true,
    keySize: 2048,
    disableFileWatchers: true,
  });
  await manager.initialize();
  const certificateFile = path.join(folder, `${name}.pem`);
  if (!fs.existsSync(certificateFile)) {
    await manager.createSelfSignedCertificate({
      applicationUri,
      dns: ["localhost", os.hostname()],
      ip: ["127.0.0.1"],
      outputFile: certificateFile,
      startDate: new Date(Date.now() - 3600_000),
      subject: `/CN=${name}/O=Actua interop`,
      validity: 30,
    });
  }
  return { manager, certificateFile, privateKeyFile: manager.privateKey };
}
