// A node-opcua client that walks the whole address space of a server and writes
// down what it finds, for a comparison with what another client finds.
//
//   node node/walk.js --url opc.tcp://127.0.0.1:4840 --pki DIR
//
// Standard output has a JSON array a line:
//   ["reference", walk, source, reference type, target, browse name, display name, node class, type definition]
//   ["missing", source, reference type, target]   no inverse reference at the target
//   ["attribute", node, attribute id, status, type, the value's bytes in hex]
// and {"event":"done"} at the end. The walks are "hierarchical" and "all", each
// from the Root folder in forward direction. NodeIds have the namespace's URI
// in place of its index.

import { createHash } from "node:crypto";
import path from "node:path";
import { BinaryStream } from "node-opcua-binary-stream";
import {
  BrowseDescription, BrowseDirection, BrowseNextRequest, BrowseRequest, DataType, MessageSecurityMode, OPCUAClient,
  ReadRequest, SecurityPolicy, TimestampsToReturn, Variant, VariantArrayType, coerceNodeId, encodeVariant,
} from "node-opcua-client";
import { emit, makePki, parseArguments } from "./peer.js";

const options = parseArguments(process.argv.slice(2), { url: "string", pki: "string" });
if (!options.url || !options.pki) {
  process.stderr.write("walk.js needs --url and --pki\n");
  process.exit(2);
}

const nodesPerBrowse = 500;
const attributesPerRead = 5000;
const lastAttribute = 27; // AccessLevelEx
const longestHex = 64; // bytes; longer values are compared by their SHA-256

/** Sends any request and returns the response; a ServiceFault throws. */
function send(session, request) {
  return new Promise((resolve, reject) => {
    session.performMessageTransaction(request, (error, response) => (error ? reject(error) : resolve(response)));
  });
}

// node-opcua's kinds of identifiers.
const numeric = 1;
const string = 2;
const guid = 3;

let uris = [];

/** A NodeId as Part 6 writes it, with the namespace's URI. */
function text(nodeId) {
  if (nodeId.serverIndex) throw new Error(`${nodeId} is on another server`);
  const uri = nodeId.namespaceUri || (nodeId.namespace === 0 ? "" : uris[nodeId.namespace]);
  if (uri === undefined) throw new Error(`${nodeId} is in no namespace of the server`);
  const space = uri ? `nsu=${uri};` : "";
  switch (nodeId.identifierType) {
    case numeric: return `${space}i=${nodeId.value}`;
    case string: return `${space}s=${nodeId.value}`;
    case guid: return `${space}g=${nodeId.value.toLowerCase()}`;
    default: return `${space}b=${nodeId.value.toString("base64")}`;
  }
}

const isNull = (nodeId) => nodeId.namespace === 0 && !nodeId.namespaceUri && nodeId.identifierType === numeric && nodeId.value === 0;

/** All references of nodes, batch by batch and page by page: [node, reference] for each. */
async function browse(session, nodes, direction, referenceTypeId) {
  const found = [];
  for (let from = 0; from < nodes.length; from += nodesPerBrowse) {
    let open = nodes.slice(from, from + nodesPerBrowse);
    let response = await send(session, new BrowseRequest({
      requestedMaxReferencesPerNode: 0,
      nodesToBrowse: open.map((nodeId) => new BrowseDescription({
        nodeId, browseDirection: direction, referenceTypeId, includeSubtypes: true, nodeClassMask: 0, resultMask: 63,
      })),
    }));
    for (;;) {
      const next = [];
      const points = [];
      response.results.forEach((result, i) => {
        if (!result.statusCode.isGood()) throw new Error(`browse of ${open[i]}: ${result.statusCode.name}`);
        for (const reference of result.references ?? []) found.push([open[i], reference]);
        if (result.continuationPoint?.length > 0) {
          next.push(open[i]);
          points.push(result.continuationPoint);
        }
      });
      if (points.length === 0) break;
      open = next;
      response = await send(session, new BrowseNextRequest({ releaseContinuationPoints: false, continuationPoints: points }));
    }
  }
  return found;
}

const scratch = new BinaryStream(4 << 20);

/** The bytes of a value as node-opcua writes them, after it has read them. */
function bytesOf(variant) {
  scratch.length = 0;
  encodeVariant(variant, scratch);
  const bytes = Buffer.from(scratch.buffer.subarray(0, scratch.length));
  return bytes.length <= longestHex ? bytes.toString("hex") : `${bytes.length} bytes ${createHash("sha256").update(bytes).digest("hex")}`;
}

function typeOf(variant) {
  const name = DataType[variant.dataType];
  switch (variant.arrayType) {
    case VariantArrayType.Array: return `${name}[]`;
    case VariantArrayType.Matrix: return `${name}[${",".repeat((variant.dimensions ?? []).length - 1)}]`;
    default: return name;
  }
}

async function walk(session, name, referenceTypeId) {
  const seen = new Map([["i=84", coerceNodeId("i=84")]]);
  let level = [...seen.values()];
  const forward = new Set();
  while (level.length > 0) {
    const next = [];
    for (const [source, r] of await browse(session, level, BrowseDirection.Forward, referenceTypeId)) {
      const target = text(r.nodeId);
      emit(["reference", name, text(source), text(r.referenceTypeId), target, `${r.browseName.namespaceIndex}:${r.browseName.name}`,
        r.displayName.text ?? "", r.nodeClass, isNull(r.typeDefinition) ? "" : text(r.typeDefinition)]);
      forward.add(`${text(source)} ${text(r.referenceTypeId)} ${target}`);
      if (!seen.has(target)) {
        seen.set(target, r.nodeId);
        next.push(r.nodeId);
      }
    }
    level = next;
  }
  return { seen, forward };
}

const applicationUri = "urn:localhost:actua-interop:client";
const pki = await makePki(path.join(options.pki, "own"), "client", applicationUri);
const client = OPCUAClient.create({
  applicationName: "Actua interop walk", applicationUri, clientCertificateManager: pki.manager,
  certificateFile: pki.certificateFile, privateKeyFile: pki.privateKeyFile,
  securityMode: MessageSecurityMode.None, securityPolicy: SecurityPolicy.None,
  endpointMustExist: false, keepSessionAlive: false, transportTimeout: 30_000,
  connectionStrategy: { maxRetry: 0, initialDelay: 100, maxDelay: 100 },
});
await client.connect(options.url);
const session = await client.createSession();
const read = (nodesToRead) => send(session, new ReadRequest({ maxAge: 0, timestampsToReturn: TimestampsToReturn.Neither, nodesToRead }));
uris = (await read([{ nodeId: "i=2255", attributeId: 13 }])).results[0].value.value;

await walk(session, "hierarchical", "i=33");
const { seen, forward } = await walk(session, "all", "i=0");
for (const [target, r] of await browse(session, [...seen.values()], BrowseDirection.Inverse, "i=0")) {
  forward.delete(`${text(r.nodeId)} ${text(r.referenceTypeId)} ${text(target)}`);
}
for (const missing of forward) emit(["missing", ...missing.split(" ")]);

const items = [];
for (const [name, nodeId] of seen) {
  for (let attributeId = 1; attributeId <= lastAttribute; attributeId++) items.push({ name, nodeId, attributeId });
}
for (let from = 0; from < items.length; from += attributesPerRead) {
  const batch = items.slice(from, from + attributesPerRead);
  const { results } = await read(batch.map(({ nodeId, attributeId }) => ({ nodeId, attributeId })));
  results.forEach(({ statusCode, value }, i) => {
    const { name, attributeId } = batch[i];
    const held = value ?? new Variant({ dataType: DataType.Null });
    emit(["attribute", name, attributeId, statusCode.name, typeOf(held), bytesOf(held)]);
  });
}
emit({ event: "done" });
await session.close();
await client.disconnect();
await pki.manager.dispose();
