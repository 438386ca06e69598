//! Pictures are documents that any reader takes, whatever is in a policy and however large the machine.

use cotenant_compiler::compile;
use cotenant_compiler::topology::{Topology, TopologySource};
use cotenant_grammar::SourceSet;

use super::*;

fn picture(text: &str, machine: &str) -> String {
    let machine = Topology::load(&TopologySource::Synthetic(machine.to_owned())).unwrap();
    let (plan, diagnostics) = compile(SourceSet::one("a<b>&.policy", text), &machine);
    plan_svg(&plan.unwrap_or_else(|| panic!("{diagnostics:#?}")))
}

/// Whether boxes lie within the picture and within the one around them, and siblings apart.
fn check(blocks: &[Block], width: u32, height: u32) {
    for (at, block) in blocks.iter().enumerate() {
        assert!(block.x + block.width <= width && block.y + block.height <= height);
        for other in &blocks[..at] {
            let apart = other.x + other.width <= block.x
                || block.x + block.width <= other.x
                || other.y + other.height <= block.y
                || block.y + block.height <= other.y;
            assert!(apart, "boxes lie apart");
        }
        if let What::Part { blocks, .. } = &block.what {
            check(blocks, block.width, block.height);
        }
    }
}

#[test]
fn boxes_nest_and_stay_within_the_width() {
    for machine in ["core:1 pu:1", "core:16 pu:2", "pack:2 numa:2 l3:2 core:8 pu:2", "pack:8 core:32 pu:8", "pu:300"] {
        let topology = Topology::load(&TopologySource::Synthetic(machine.to_owned())).unwrap();
        let arranged = boxes::lay_out(&topology, 3, WIDTH);
        assert!(arranged.width <= WIDTH, "{machine} is {} wide", arranged.width);
        check(&arranged.blocks, arranged.width, arranged.height);
    }
}

#[test]
fn looks_say_first_choice_overflow_and_gate() {
    let svg = picture("rt class web: match exe w, prefer idle core; batch: only when core idle", "core:1 pu:2");
    assert!(svg.contains("cpu 0, core 0: web; batch, only when core idle"), "{svg}");
    assert!(svg.contains("cpu 1, core 0: web, as overflow; batch, only when core idle"), "{svg}");
    for fill in ["fill=\"#0072b2\"", "fill=\"url(#c0h)\"", "fill=\"url(#c1d)\""] {
        assert!(svg.contains(fill), "{fill}");
    }
    for name in ["c0h", "c1d"] {
        assert!(svg.contains(&format!("<pattern id=\"{name}\"")), "{name} is defined");
    }
}

#[test]
fn text_of_a_policy_stays_text() {
    let svg = picture("class a: match exe \"<script>&\\\"\\u{1}\";", "core:1 pu:1");
    assert!(svg.contains("a&lt;b&gt;&amp;.policy") && svg.contains("&lt;script&gt;&amp;"), "{svg}");
    assert!(!svg.contains("<script>") && !svg.contains('\u{1}'));
}

#[test]
fn more_classes_than_colours_share_one() {
    let classes: String = (0..60).map(|at| format!("class c{at}: match exe e{at};")).collect();
    let svg = picture(&classes, "core:2 pu:1");
    assert!(svg.contains("and 20 more"));
    assert!(svg.contains("fill=\"#7a828e\""));
}
